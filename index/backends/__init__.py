"""What does the matching behind `Index`: the native core (`native.py`) or Python (`python.py`)."""
