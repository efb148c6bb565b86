"""`python -m bench`: a benchmark imports what it needs and no more."""

import subprocess
import sys

import pytest

from bench.__main__ import MODULES

_WITHOUT_SPARK = """
import sys
from bench.__main__ import main
sys.modules["pyspark"] = None
sys.argv = ["bench", *{arguments}]
try:
    main()
finally:
    print(*(name for name in sys.modules if name.startswith("bench.")))
"""


@pytest.mark.parametrize(
    ("arguments", "words"), [(["--help"], [*MODULES]), (["routing", "--help"], ["--seed"])]
)
def test_help_needs_no_spark(arguments: list[str], words: list[str]) -> None:
    program = [sys.executable, "-c", _WITHOUT_SPARK.format(arguments=arguments)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(word in done.stdout for word in words)
    imported = done.stdout.splitlines()[-1].split()
    assert ("bench.service.http" in imported) == (len(arguments) == 1)
