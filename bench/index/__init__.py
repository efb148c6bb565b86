"""The index alone: matches, parsing, growth, ablations, hostile expressions."""
