"""Types for arguments of a command line."""

import argparse


def positive(text: str) -> int:
    """An integer above zero, or argparse's error."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected an integer above 0, not {text}")
    return int(text)
