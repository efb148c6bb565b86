"""What each paper says, beside what we measured: one file for each paper."""
