"""A worker in a process of its own, to be killed: it says on each line where it is.

python -m tests.campaigns.feed.process DATABASE_URL [REDIS_URL] [--keep DIRECTORY] [--no-relay]
"""

import argparse
import asyncio
import json
import sys
from pathlib import Path

from campaigns.feed.service import WorkerFeed


async def follow(arguments: argparse.Namespace) -> None:
    feed = WorkerFeed(
        arguments.database,
        arguments.redis,
        relay=not arguments.no_relay,
        keep_in=arguments.keep,
    )
    saved_at = None
    async with feed:
        while True:
            if feed.current is not None:
                place = feed.current.place
                if feed.kept is not None and place != saved_at:
                    await feed.follower.save(feed.kept)
                    saved_at = place
                sys.stdout.write(json.dumps([place.epoch, place.rev, feed.current.digest()]) + "\n")
                sys.stdout.flush()
            await asyncio.sleep(0.02)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("database")
    parser.add_argument("redis", nargs="?")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--no-relay", action="store_true")
    asyncio.run(follow(parser.parse_args()))
