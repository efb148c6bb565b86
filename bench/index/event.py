"""What a match costs where reading the event is everything: ten rules about one attribute, and
events of 25 attributes, as JSON of about 1 KB.

The peers' own benchmarks look like this. Reported is CPU time of `Index.match` from Python, and of
the parts of it that do not depend on the event: the same match with nothing but the attribute that
is used. *Same order* are events whose attributes come in the same order, as a client sends them;
in *any order* each event has another one.
"""

import argparse
import json
import random
import statistics
import time
from collections.abc import Sequence

from bench.index.measure import Result
from index import Attribute, Index, Schema
from testkit.arguments import positive
from testkit.markdown import table

USED = "country"
VALUES = ("US", "CA", "DE", "FR", "UK")
RULES = 10
EVENTS = 200


def events(chance: random.Random, shuffled: bool) -> list[bytes]:
    """Events of 25 attributes: texts, numbers, lists and objects, one of them used."""
    made = []
    for number in range(EVENTS):
        event: dict[str, object] = {
            f"attribute.{place:02}": f"{chance.getrandbits(120):030x}" for place in range(12)
        }
        event |= {f"number.{place:02}": chance.randrange(10**8) for place in range(6)}
        event |= {
            "secure": number % 2 == 0,
            "segments": [chance.randrange(10_000) for _ in range(8)],
            "user": {"ids": [{"source": "a", "id": f"{number:08}"}], "age": 30.5},
            "geo": [52.5, 13.4],
            "agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)",
            "page": f"https:\\/\\/example.com\\/news\\/{number}?from=front",
            USED: chance.choice(VALUES),
        }
        names = list(event)
        if shuffled:
            chance.shuffle(names)
        written = json.dumps({name: event[name] for name in names}, separators=(",", ":"))
        made.append(written.replace("\\\\/", "\\/").encode())
    return made


def measure(rounds: int) -> list[Result]:
    """One result for each kind of event, in turns."""
    index = Index(Schema([Attribute(USED, "string")]), engine="native")
    for id in range(RULES):
        index.insert(id, f"{USED} = '{VALUES[id % len(VALUES)]}'")
    chance = random.Random(15)
    kinds = {
        "same order": events(chance, shuffled=False),
        "any order": events(chance, shuffled=True),
        "the used attribute alone": [f'{{"{USED}":"{v}"}}'.encode() for v in VALUES] * 40,
    }
    times: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(rounds):
        for name, sent in kinds.items():
            times[name].append(_match_us(index, sent))
    return [
        {
            "events": name,
            "bytes": round(statistics.fmean(map(len, sent))),
            "match_us_median": round(statistics.median(times[name]), 2),
            "match_us_lowest": round(min(times[name]), 2),
        }
        for name, sent in kinds.items()
    ]


def _match_us(index: Index, sent: Sequence[bytes]) -> float:
    match, repeats = index.match, 50
    started = time.thread_time()
    for _ in range(repeats):
        for event in sent:
            match(event)
    return (time.thread_time() - started) / repeats / len(sent) * 1e6


def run(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    results = measure(arguments.rounds)
    if arguments.json:
        for result in results:
            print(json.dumps(result))
        return
    fields = tuple(results[0])
    print(table(fields, [[result[name] for name in fields] for result in results]))


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `event` on the command line."""
    command = commands.add_parser("event", help="a match where reading the event is everything")
    command.add_argument("--rounds", type=positive, default=15)
    command.add_argument("--json", action="store_true", help="print JSON objects")
    command.set_defaults(run=run)
