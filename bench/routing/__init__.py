"""Overlays of brokers, simulated: filter-based routing, D-DBR and MERC."""
