"""What a match costs over HTTP: the real service beside a no-op on the same server.

command.py     fills a Postgres, starts the processes, drives them in turns, prints the figures
  ├── serving.py     the processes: `copse serve`, noop.py and matching_noop.py; their CPU, memory
  │                  and metrics
  ├── bodies.py      the requests of the ads workload, in a file
  ├── wrk.py         as much as it takes (closed loop), with rotate.lua
  ├── steady.py      so many a second (open loop), a process of its own
  └── expected.py    the same campaigns in an index in this process, and its answers
"""
