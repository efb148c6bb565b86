"""Load tests with Locust: how does the service behave under the traffic of an exchange?

command.py              the command line (plan.py: its options)
  └── run.py                one run, from an empty database to the report
        ├── traffic.py          the requests, seeded, in files
        ├── locust_process.py   Locust, in several processes (settings.py: their options)
        │     └── locustfile.py     the users: match, openrtb, churn (scenarios.py, churn.py)
        │           └── latencies.py    latencies per second, written by each process
        ├── monitor.py          CPU, memory and lag of the service, every second
        ├── statistics.py       the activation in the middle of `mixed`
        ├── feed_bytes.py       the size of a change in the log and in the stream
        └── report.py           the summary and figures.json, from figures.py

sizing.py               from measured unit costs to machines: prints docs/scaling.md
"""
