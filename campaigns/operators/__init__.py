"""Operators: what targeting can call, and the registry of them."""
