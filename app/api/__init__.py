"""The admin API: a file for each noun with its routes, and one with its shapes and examples."""
