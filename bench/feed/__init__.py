"""The feed: how soon every worker sees a write, and how long a worker takes to start."""
