"""`python -m loadtest`."""

import sys

from loadtest.command import main

if __name__ == "__main__":
    sys.exit(main())
