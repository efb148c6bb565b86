"""Advertisers: fields, operations, SQL."""
