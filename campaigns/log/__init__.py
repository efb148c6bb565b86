"""The change log and its head, the audit log, idempotency keys, the write transaction."""
