"""`POST /v1/campaigns/import`: NDJSON in, a result for each line out."""
