"""Campaigns: their tables, the rules they obey, and the log of changes that every index follows.

    service/      one function an operation: a transaction with its row, its change, its audit entry
      │
    campaign.py, advertiser.py, catalogue.py, keys.py, targeting.py, statuses.py    the rules
      │
    writing.py    the write protocol: the revs of a transaction are taken at its end
      │
    repository/   all SQL
      │
    tables.py, database.py, changes.py

The package knows no web framework: it takes dictionaries of fields and raises `errors.py`.
"""
