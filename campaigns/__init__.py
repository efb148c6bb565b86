"""The domain: campaigns, advertisers, the catalogue of attributes, API keys, and the change log.

    campaign/  advertiser/  catalogue/  keys/    a folder for each noun
        model.py         its fields, each declared once (`record.py`), and its change for the feed
        service.py       its operations: one function is one transaction
        repository.py    its SQL; the functions run in the transaction of their caller
    log/          the change log, the audit log, idempotency keys, the write transaction
    feed/         how every running index follows the change log
    statistics/   statistics about the traffic: versions, gates, forecasts
    database/     engine, tables, pagination

An operation takes the store first and, if it writes, the actor. It takes dictionaries of fields and
raises what `errors.py` lists. The package uses no web framework.
"""
