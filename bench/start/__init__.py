"""How long a worker takes from its start until it can answer, with many campaigns in Postgres.

command.py    fills a Postgres, starts the processes one after the other, prints the figures
  ├── filling.py    campaigns of the ads workload, by COPY
  └── worker.py     a process: a bare stream of the rows, a cold start, a start from a file
"""
