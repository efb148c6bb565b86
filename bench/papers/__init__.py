"""The papers' figures, measured, as tables and plots."""
