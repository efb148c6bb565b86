"""Threads beside a test."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def beside(*works: Callable[[threading.Event], None]) -> Iterator[list[BaseException]]:
    """Run each in a thread, with an event that is set at the end of the block.

    The block gets a list of what they raise, which grows; at the end the first of it is raised.
    """
    over = threading.Event()
    problems: list[BaseException] = []

    def run(work: Callable[[threading.Event], None]) -> None:
        try:
            work(over)
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield problems
    finally:
        over.set()
        for thread in threads:
            thread.join()
    if problems:
        raise problems[0]
