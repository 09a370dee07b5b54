"""A real Chromium, driven over the pipe of its DevTools protocol: no WebSocket, no driver to install."""

import base64
import itertools
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
_PHONE = 700  # pixels; narrower pages are shown as phones show them


def chromium_program() -> str | None:
    """Where Chromium is, or None."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class BrowserError(Exception):
    """The browser rejected a command, or a script in the page failed."""


@dataclass
class Page:
    """A tab of the browser."""

    _to: int
    _from: int
    session: str = ""
    logged: list[str] = field(default_factory=list)  # what the page logged, such as violations of its policy
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _rest: bytes = b""
    _events: list[dict[str, Any]] = field(default_factory=list)

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            got = self._read()
            if got.get("id") == number:
                if "error" in got:
                    raise BrowserError(f"{method}: {got['error']}")
                result: dict[str, Any] = got["result"]
                return result
            self._note(got)

    def open(self, address: str, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Open an address in a window of a size, in a colour scheme, and wait until it is loaded."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < _PHONE,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        calm = {"name": "prefers-reduced-motion", "value": "reduce"}
        self.send("Emulation.setEmulatedMedia", features=[scheme, calm])
        self._events.clear()
        self.send("Page.navigate", url=address)
        while not any(event["method"] == "Page.loadEventFired" for event in self._events):
            self._note(self._read())

    def run(self, script: str) -> Any:
        """Return what a JavaScript expression yields, a promise's value included."""
        result = self.send(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True
        )
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description") or details["text"])
        return result["result"].get("value")

    def until(self, script: str) -> Any:
        """Return what an expression yields once that is true; it is tried again at every frame, for five seconds."""
        return self.run(
            "new Promise((done, failed) => { const end = performance.now() + 5000; const look = () => {"
            f" const found = ({script}); if (found) done(found);"
            " else if (performance.now() > end) failed(new Error('not within five seconds'));"
            " else setTimeout(look, 20); }; look(); })"
        )

    def press(self, key: str, *, shift: bool = False) -> None:
        """Press and release a key."""
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        codes = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39,
                 "End": 35, "Home": 36}  # fmt: skip
        event = {"key": key, "code": key, "windowsVirtualKeyCode": codes.get(key, 0), "modifiers": 8 if shift else 0}
        self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **event)
        self.send("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text: str) -> None:
        """Type a text into what has the focus."""
        self.send("Input.insertText", text=text)

    def picture(self, file: Path, *, whole: bool = False) -> None:
        """Write a PNG of what is seen, or of the whole page."""
        shot = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(shot["data"]))

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            piece = os.read(self._from, 1 << 20)
            if not piece:
                raise BrowserError("Chromium has ended")
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        self._events.append(message)
        if message.get("method") == "Log.entryAdded":
            self.logged.append(message["params"]["entry"]["text"])
        elif message.get("method") == "Runtime.exceptionThrown":
            self.logged.append(str(message["params"]["exceptionDetails"]))


@contextmanager
def chromium(program: str) -> Iterator[Page]:
    """A tab of a fresh Chromium without a window; both are gone after the block."""
    their_in, to = os.pipe()
    from_, their_out = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        words = [program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
                 "--disable-background-networking", f"--user-data-dir={profile}", "about:blank"]  # fmt: skip

        # Chromium reads commands from descriptor 3 and writes to 4.
        shell = f'exec 3<&{their_in} 4>&{their_out}; exec "$@"'
        process = subprocess.Popen(
            ["bash", "-c", shell, "chromium", *words],
            pass_fds=(their_in, their_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(their_in)
        os.close(their_out)
        try:
            page = Page(to, from_)
            target = page.send("Target.createTarget", url="about:blank")["targetId"]
            page.session = page.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log"):
                page.send(f"{domain}.enable")
            yield page
        finally:
            process.terminate()
            process.wait(timeout=10)
            os.close(to)
            os.close(from_)
