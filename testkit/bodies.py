"""The requests: events of the ads workload, as the bodies of `POST /v1/match`, one a line."""

from pathlib import Path

import orjson

from testkit.workloads.workload import Event, Workload


def write(workload: Workload, count: int, path: Path) -> list[Event]:
    """Write so many bodies; their events."""
    events = workload.events(count)
    path.write_bytes(b"".join(body_of(event) + b"\n" for event in events))
    return events


def body_of(event: Event) -> bytes:
    """What asks for the matches of an event."""
    return orjson.dumps({"attributes": event})
