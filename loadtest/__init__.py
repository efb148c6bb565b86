"""What does the service do under the traffic of an exchange? `make loadtest`, and read the report.

command.py          the command line; what is run is a plan.py
  └── running.py        one run, from an empty database to the report
        ├── ground.py       a Postgres, a Redis, so many campaigns, a key
        ├── traffic.py      the requests, seeded, in files
        ├── driving.py      Locust, in several processes
        │     └── locustfile.py   the users: match, openrtb, churn (scenarios.py, churn.py)
        │           └── ledger.py     what each second brought, written down by each process
        ├── watching.py     the service and Locust, every second, by processes.py
        ├── statistics.py   the activation in the middle of `mixed`
        ├── checking.py     a sample of the answers, against an index in this process
        ├── feed_bytes.py   what a change costs to keep and to carry
        └── report.py       figures.py, in a page with plots (page.py, charts.py) and a summary.py

sizing.py           from unit costs to machines: the arithmetic of docs/scaling.md
"""
