"""The feed: how every running index follows the database, whatever fails in between.

    service.py    the feed of one worker: its follower, and its candidacy for the relay
      ├── follower.py   runs the actions of the protocol, and reports their results to it
      │     ├── replica.py    (state, message) → (state, actions): the protocol, without any I/O
      │     │                 messages.py: its messages and actions
      │     ├── stream.py     the fast lane: Redis
      │     ├── source.py     the log and all rows: postgres.py, sqlite.py, SQL in queries.py
      │     ├── load.py       the database into a fresh view; index_file.py keeps an index on disk
      │     └── apply.py      a change into the view; view.py is what answers matches
      └── relay.py      from the log into Redis, in the one worker that holds the lease (lease.py)

`docs/feed.md` has the protocol, with a table of the faults and what happens on each.
"""
