"""`python -m spark COMMAND`."""

import sys

from spark.commands import main

if __name__ == "__main__":
    sys.exit(main())
