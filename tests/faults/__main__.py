"""`make faults SEED=… MINUTES=…`: run a schedule of faults and check what happened.

python -m tests.faults --seed 7 --minutes 30
python -m tests.faults --seed 7 --minutes 30 --show         # the schedule alone
python -m tests.faults --check build/faults/seed-7          # a history again
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from testkit import Failed
from testkit.progress import Progress
from tests.faults.checker import check
from tests.faults.history import History
from tests.faults.report import Report
from tests.faults.run import run
from tests.faults.schedule import Fault, schedule
from tests.faults.stage import ROOT


def _show(seconds: float, faults: int) -> Callable[[float, History, Sequence[Fault]], None]:
    bar = Progress()

    def show(elapsed: float, history: History, begun: Sequence[Fault]) -> None:
        text = f"{len(begun)} of {faults} faults, {len(history.records):,} records"
        bar.show(text, min(int(elapsed), int(seconds) - 1), int(seconds))

    return show


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--out", type=Path, help="report folder, build/faults/seed-… by default")
    parser.add_argument("--show", action="store_true", help="print the schedule and exit")
    parser.add_argument(
        "--check", type=Path, metavar="OUT", help="check the history of an earlier run"
    )
    options = parser.parse_args()
    if options.check:
        history = History.load(options.check / "history.jsonl")
        sys.stdout.write("".join(f"{each}\n" for each in check(history).violations))
        return 0
    seconds = 60 * options.minutes
    faults = schedule(options.seed, seconds)
    sys.stdout.write(f"seed {options.seed}, {options.minutes:g} minutes, {len(faults)} faults\n")
    sys.stdout.write("".join(f"{fault}\n" for fault in faults))
    if options.show:
        return 0
    out: Path = options.out or ROOT / "build" / "faults" / f"seed-{options.seed}"
    out.mkdir(parents=True, exist_ok=True)
    try:
        history = run(options.seed, seconds, faults, out, progress=_show(seconds, len(faults)))
    except Failed as error:
        sys.stderr.write(f"{error}\n")
        return 1
    history.save(out / "history.jsonl")
    report = Report.of(options.seed, options.minutes, faults, history, check(history))
    report.write(out)
    sys.stdout.write(f"{report.summary()}\n{out}/report.md has it all\n")
    return 1 if report.verdict.violations else 0


if __name__ == "__main__":
    sys.exit(main())
