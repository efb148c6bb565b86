"""Debian's Chromium, driven through its debugging pipe: enough to open a page and run JavaScript.

with browser() as chromium:
    chromium.open("http://127.0.0.1:8080/docs")
    chromium.run("document.title")
"""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from testkit import Failed
from testkit.debian import installed, which

DEADLINE_SECONDS = 60.0


class BrowserFailed(Failed):
    """The browser, or the JavaScript that it ran, failed."""


class Browser:
    """One page. Messages are JSON objects that end with a zero byte."""

    def __init__(self, write_to: int, read_from: int) -> None:
        self._write_to = write_to
        self._read_from = read_from
        self._received = b""
        self._last = 0
        self._session = ""
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        attached = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]

    def open(self, url: str) -> None:
        """Load a page."""
        self._call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def run(self, script: str) -> Any:
        """The value of an expression; a promise is awaited."""
        answer = self._call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise BrowserFailed(f"{script}: {json.dumps(answer['exceptionDetails'])}")
        return answer["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + DEADLINE_SECONDS
        while not self.run(f"Boolean({condition})"):
            if time.monotonic() > end:
                raise BrowserFailed(f"never true: {condition}")
            time.sleep(0.05)

    def _call(self, method: str, **parameters: Any) -> Any:
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write_to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise BrowserFailed(f"{method}: {answer['error']}")
                return answer["result"]

    def _next(self) -> Any:
        while b"\0" not in self._received:
            data = os.read(self._read_from, 1 << 16)
            if not data:
                raise BrowserFailed("the browser has ended")
            self._received += data
        message, _, self._received = self._received.partition(b"\0")
        return json.loads(message)


@contextmanager
def browser() -> Iterator[Browser]:
    """A new browser without a profile; it ends with the block."""
    chromium = installed("chromium", lambda: which("chromium"))
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    # Chromium reads commands from descriptor 3 and answers on 4.
    command = f'exec 3<&{theirs_in} 4>&{theirs_out}; exec "$@"'
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
        process = subprocess.Popen(
            [
                *("bash", "-c", command, "bash", chromium, *options),
                *("--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"),
            ],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        try:
            yield Browser(ours_out, ours_in)
        finally:
            os.close(ours_out)
            os.close(ours_in)
            process.kill()
            process.wait()
