"""The database: engine, tables, pagination, retries."""
