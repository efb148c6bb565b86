"""Campaigns: fields, statuses, targeting, operations, SQL."""
