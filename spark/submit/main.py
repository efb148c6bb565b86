"""The same commands for `spark-submit`, which takes a file.

spark-submit --master yarn --deploy-mode client spark/submit/main.py selectivity --impressions …
"""

import sys

from spark.commands import main

if __name__ == "__main__":
    sys.exit(main())
