"""How long it takes from the commit of a write until every worker sees it.

command.py    starts everything, asks for the phases, prints the figures
  ├── writer.py     a process: writes at its rate, whatever comes of them (writes.py: which)
  ├── worker.py     processes: each follows with a `WorkerFeed` and notes when it got where
  └── latency.py    from what they noted to the figures
"""
