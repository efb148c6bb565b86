"""Delivery: what became of sampled requests, for each campaign by the hour."""
