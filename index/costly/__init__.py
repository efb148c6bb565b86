"""Costly predicates: expressions that are decided by calls of registered operators."""
