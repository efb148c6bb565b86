"""Types of command line arguments."""

import argparse


def positive(text: str) -> int:
    """A positive integer."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected an integer above 0, not {text}")
    return int(text)
