"""Debian's Chromium, driven through its debugging pipe: enough to open a page, run JavaScript, and
click and type as a person does.

with browser() as chromium:
    chromium.open("http://127.0.0.1:8080/docs")
    chromium.run("document.title")
    chromium.click("button[type=submit]")
"""

import base64
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from testkit import Failed
from testkit.debian import installed, which

DEADLINE_SECONDS = 60.0

_VISIBLE = "e => e.getClientRects().length > 0"
_KEYS = {
    "Enter": ("Enter", 13, "\r"),
    "Tab": ("Tab", 9, ""),
    "Escape": ("Escape", 27, ""),
    "ArrowDown": ("ArrowDown", 40, ""),
    "Delete": ("Delete", 46, ""),
    " ": ("Space", 32, " "),
}
"""For each key: its code, its number, and the text that it types."""


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
        while True:
            try:
                if self.run(f"Boolean({condition})"):
                    return
            except BrowserFailed:  # between two pages there is no document
                if time.monotonic() > end:
                    raise
            if time.monotonic() > end:
                raise BrowserFailed(f"never true: {condition}")
            time.sleep(0.05)

    def click(self, selector: str) -> None:
        """Click in the middle of the first visible element, with the mouse."""
        visible = f"[...document.querySelectorAll({json.dumps(selector)})].find({_VISIBLE})"
        self.wait(visible)
        x, y = self.run(
            f"(() => {{ const e = {visible}; "
            "e.scrollIntoView({block: 'center', behavior: 'instant'}); "
            "const r = e.getBoundingClientRect(); "
            "return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        at = {"x": x, "y": y, "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, **at)

    def click_text(self, text: str) -> None:
        """Click the link or button with exactly this text, or this label."""
        found = (
            "[...document.querySelectorAll('a, button, summary')].find(e => "
            f"(e.textContent.trim() === {json.dumps(text)} || "
            f"e.getAttribute('aria-label') === {json.dumps(text)}) && ({_VISIBLE})(e))"
        )
        self.wait(found)
        self.run(
            "document.querySelectorAll('[data-clicked]').forEach(e => delete e.dataset.clicked); "
            f"{found}.dataset.clicked = 'yes'"
        )
        self.click("[data-clicked]")

    def type(self, selector: str, text: str) -> None:
        """Replace the text of a field, by the keyboard."""
        self.click(selector)
        self.run("document.activeElement.select()")
        self.press("Delete")
        if text:
            self._call("Input.insertText", text=text)

    def press(self, key: str, modifiers: int = 0) -> None:
        """Press a key, as in Enter, Tab, Escape, ArrowDown; with 2 for Ctrl."""
        code, number, text = _KEYS[key]
        named = {"key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": modifiers}
        typed = {"text": text} if text and not modifiers else {}
        self._call("Input.dispatchKeyEvent", type="keyDown", **named, **typed)
        self._call("Input.dispatchKeyEvent", type="keyUp", **named)

    def choose_file(self, selector: str, path: Path) -> None:
        """Put a file into a file field."""
        root = self._call("DOM.getDocument")["root"]["nodeId"]
        node = self._call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self._call("DOM.setFileInputFiles", nodeId=node, files=[str(path)])

    def download_to(self, directory: Path) -> None:
        """Put what is downloaded from now on into a directory."""
        self._call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(directory))

    def forget_cookies(self) -> None:
        """As if they had expired."""
        self._call("Network.clearBrowserCookies")

    def resize(self, width: int, height: int, dark: bool = False) -> None:
        """Another size of the window; dark or light."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self._call("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])

    def screenshot(self, path: Path) -> None:
        """A picture of what is visible, as PNG."""
        shot = self._call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(shot["data"]))

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
        options = (
            *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
            "--hide-scrollbars",
        )
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
