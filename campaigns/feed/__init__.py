"""The feed: how every running index follows the database, whatever fails in between.

    worker.py     the feed of one worker: its replica, and its candidacy for the relay
      ├── follower.py   the shell of the replica: runs actions, tells the core what came of them
      │     ├── replica.py    (state, message) → (state, actions): the protocol, without any I/O
      │     │                 messages.py: what it is told, and what it asks for
      │     ├── stream.py     the fast lane: Redis
      │     ├── source.py     the log and the snapshot: postgres.py, sqlite.py, SQL in queries.py
      │     ├── loading.py    a snapshot into a fresh view; index_file.py keeps one on disk
      │     └── applying.py   a change into the view; view.py is what matches are answered from
      └── relay.py      from the log into Redis, in the one worker that holds the lease (lease.py)

`docs/feed.md` has the protocol, with a table of the faults and what happens on each.
"""
