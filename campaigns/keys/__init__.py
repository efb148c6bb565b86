"""API keys: fields, operations, SQL."""
