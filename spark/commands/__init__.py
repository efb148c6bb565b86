"""The command line: the jobs, and how their errors are printed."""

import argparse
import sys
from collections.abc import Sequence

from spark.commands import backtest, compact, forecast, selectivity
from spark.engine import check_engine
from spark.errors import SPARK_ERRORS, JobError, exit_code, reason_of

COMMANDS = (selectivity, forecast, backtest, compact)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a job and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        check_engine()
        code: int = options.run(options)
    except JobError as error:
        print(f"spark: {error}", file=sys.stderr)
        return error.code
    except SPARK_ERRORS as error:
        print(f"spark: {reason_of(error)}", file=sys.stderr)
        return exit_code(error)
    except KeyboardInterrupt:
        return 130
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m spark", description="Spark jobs on the impression log."
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_to(commands)
    return parser
