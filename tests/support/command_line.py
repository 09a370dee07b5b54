"""The command line, run as its own processes.

`Program` runs commands to their end. They are forked from one process that has imported the program already, since
starting Python and importing is most of what a command takes. `started` runs a service from scratch.
"""

import gc
import io
import json
import os
import pty
import re
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import typer

from tradecounter.sites.command_line import COMMANDS, app, command_named, run

SECRET = "s" * 64

_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")

Forker = subprocess.Popen[str]


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    status: int
    output: bytes
    err: str

    @property
    def out(self) -> str:
        """What it wrote on standard output, as text."""
        return self.output.decode()

    @property
    def document(self) -> Any:
        """The one JSON document that it printed."""
        assert self.out.endswith("\n")
        return json.loads(self.out)


@dataclass
class Program:
    """Runs commands in a folder of their own, on one database or on the embedded one of the folder."""

    folder: Path
    url: str | None
    forker: Forker
    environment: dict[str, str] = field(default_factory=dict)
    umask: int | None = None

    def run(
        self,
        *words: str,
        given: str | bytes = b"",
        terminal: str | None = None,
        keyboard: str | None = None,
        **environment: str,
    ) -> Done:
        """Run a command to its end, with something on its standard input and additional environment variables.

        Its standard output is a file, or the device of a terminal; so is its standard input.
        """
        settings = {"TRADECOUNTER_DATABASE_URL": self.url} if self.url else {}
        paths = {name: self.folder / f".{name}" for name in ("in", "out", "err")}
        paths["in"].write_bytes(given.encode() if isinstance(given, str) else given)
        order = {
            "words": words,
            "environment": {**settings, **self.environment, **environment},
            "folder": str(self.folder),
            "umask": self.umask,
            "files": [keyboard or str(paths["in"]), terminal or str(paths["out"]), str(paths["err"])],
        }
        paths["out"].touch()
        assert self.forker.stdin is not None
        assert self.forker.stdout is not None
        self.forker.stdin.write(json.dumps(order) + "\n")
        self.forker.stdin.flush()
        status = int(self.forker.stdout.readline())
        return Done(status, paths["out"].read_bytes(), paths["err"].read_text())

    def screen(self, width: int, *words: str) -> tuple[list[str], str]:
        """Run a command on a terminal; return the lines that it wrote there, and its standard error."""
        master, device = pty.openpty()
        written: list[bytes] = []
        reader = threading.Thread(target=_read_terminal, args=(master, written))
        reader.start()
        try:
            done = self.run(*words, terminal=os.ttyname(device), COLUMNS=str(width), TERM="xterm")
        finally:
            os.close(device)
            reader.join(timeout=10)
            os.close(master)
        assert done.status == 0, done
        text = _ESCAPES.sub("", b"".join(written).decode())
        return [line.rstrip() for line in text.splitlines()], " ".join(done.err.split())

    def answered(self, *words: str, answer: str) -> Done:
        """Run a command whose standard input is a terminal, at which someone has typed an answer."""
        master, device = pty.openpty()
        try:
            os.write(master, f"{answer}\n".encode())
            return self.run(*words, keyboard=os.ttyname(device))
        finally:
            os.close(device)
            os.close(master)

    def json(self, *words: str, **options: Any) -> Any:
        """Run a command with `--json`, which has to succeed without a word beside the document that it prints."""
        done = self.run(*words, "--json", **options)
        assert (done.status, done.err) == (0, "")
        return done.document

    def text(self, *words: str, **options: Any) -> str:
        """Run a command that has to succeed; return what it printed for a person."""
        done = self.run(*words, **options)
        assert (done.status, done.err) == (0, "")
        return done.out

    def error(self, *words: str, **options: Any) -> str:
        """Run a command that must fail; return its one-line error."""
        done = self.run(*words, **options)
        assert (done.status, done.out) == (1, ""), done
        assert done.err.startswith("error: ")
        assert done.err.count("\n") == 1
        return done.err.removeprefix("error: ").rstrip("\n")

    def misused(self, *words: str) -> str:
        """Run a command that is wrong usage; return what it says."""
        done = self.run(*words)
        assert (done.status, done.out) == (2, ""), done
        return " ".join(done.err.replace("│", " ").split())


def _read_terminal(master: int, written: list[bytes]) -> None:
    with suppress(OSError):  # the other end is closed
        while piece := os.read(master, 65_536):
            written.append(piece)


def all_commands() -> list[str]:
    """The words of every command, such as `order list`."""
    found = []
    for name in COMMANDS:
        command = command_named(name)
        nested = command.registered_commands if isinstance(command, typer.Typer) else []
        found += [f"{name} {inner.name}" for inner in nested] or [name]
    return found


@contextmanager
def forking() -> Iterator[Forker]:
    """The process that commands are forked from, while the block runs."""
    forker = subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**without_settings(), "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    with forker:
        yield forker
        assert forker.stdin is not None
        forker.stdin.close()


def without_settings() -> dict[str, str]:
    """The environment without the program's own variables."""
    return {name: value for name, value in os.environ.items() if not name.startswith("TRADECOUNTER_")}


@dataclass
class Running:
    """A service that runs in processes of its own."""

    process: subprocess.Popen[str]
    reader: threading.Thread
    logs: list[str]
    first_line: str = ""

    @property
    def announced(self) -> Any:
        """The document that it printed when it was ready."""
        return json.loads(self.first_line)

    def stop(self, number: int) -> tuple[int, str]:
        """Send a signal; return the exit status and what else was on standard output."""
        self.process.send_signal(number)
        status = self.process.wait(timeout=60)
        self.reader.join(timeout=10)
        assert self.process.stdout is not None
        return status, self.process.stdout.read()


@contextmanager
def started(
    *words: str,
    folder: Path,
    environment: Mapping[str, str],
    given: str = "",
    wait: bool = True,
    most_files: int | None = None,
    umask: int | None = None,
    python: str = sys.executable,
) -> Iterator[Running]:
    """Run a service from scratch while the block runs; unless told not to, wait for its first line of output.

    `most_files` is how many files it may have open, `umask` which permissions its files do not have, `python` what runs
    it.
    """
    steps = [] if most_files is None else [f"ulimit -n {most_files}"]
    steps += [] if umask is None else [f"umask {umask:04o}"]
    limit = ["sh", "-c", " && ".join([*steps, 'exec "$@"']), "sh"] if steps else []
    process = subprocess.Popen(
        [*limit, python, "-m", "tradecounter", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**without_settings(), **environment},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    with process:
        logs: list[str] = []
        reader = threading.Thread(target=logs.extend, args=(process.stderr,), daemon=True)
        reader.start()
        running = Running(process, reader, logs)
        try:
            process.stdin.write(given)
            process.stdin.close()
            if wait:
                running.first_line = process.stdout.readline()
                assert running.first_line, logs
            yield running
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(timeout=60)
            reader.join(timeout=10)


def _run_forked(order: dict[str, Any]) -> NoReturn:
    os.chdir(order["folder"])
    os.environ.update(order["environment"])
    names = order["files"]
    for number, flags in enumerate((os.O_RDONLY, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, os.O_WRONLY | os.O_CREAT)):
        opened = os.open(names[number], flags | (os.O_TRUNC if number else 0), 0o600)
        os.dup2(opened, number)
        os.close(opened)
    if order["umask"] is not None:
        os.umask(order["umask"])
    sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115 the descriptor, not a path
    sys.argv = ["tradecounter", *order["words"]]
    status: Any = 0
    try:
        run()
    except SystemExit as ending:
        status = ending.code or 0
    except BaseException:  # noqa: BLE001 as the interpreter does
        traceback.print_exc()
        status = 70
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # unwinding the interpreter would take longer than the command


def _fork_commands() -> None:
    for name in COMMANDS:
        command_named(name)
    for words in (["--help"], ["openapi"], ["customer", "show", "x"]):
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), suppress(SystemExit):
            app(words)  # what the libraries import late is imported now
    gc.freeze()  # or every child would copy what it merely looks at
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _run_forked(json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201 the program's output


if __name__ == "__main__":
    _fork_commands()
