"""Adds up the figures of several processes, whichever of them Prometheus reaches.

Each process writes its figures to a file of its own, about once a second, and the process with the port reads all of
them. Counters of processes that have ended are kept, or the sums would fall and look like restarts.
"""

import fcntl
import os
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from tradecounter.monitoring.metrics import Figures, Labels, combined, counters_of

_OUTDATED_SECONDS = 10.0  # after which a process that writes nothing hangs or has ended

_SUFFIX = ".figures"
_FOLDERS = "tradecounter-metrics-"
_IN_USE = "in-use"  # a file that the owner of a folder has locked, also until a kill -9


class _Written(msgspec.Struct):
    """The contents of a file; `at` is monotonic, which is the same time in all processes."""

    pid: int
    at: float
    figures: dict[str, list[tuple[Labels, list[float]]]]


@contextmanager
def figures_folder() -> Iterator[Path]:
    """Yield a new temporary folder for the files, and remove those that killed services have left."""
    with tempfile.TemporaryDirectory(prefix=_FOLDERS) as name, (Path(name) / "new").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Only now, because another service that starts removes a folder whose file it can lock.
        (Path(name) / "new").rename(Path(name) / _IN_USE)
        for folder in Path(name).parent.glob(f"{_FOLDERS}*"):
            _remove_unless_used(folder)
        yield Path(name)


def _remove_unless_used(folder: Path) -> None:
    with suppress(OSError):  # it is another user's, in use, or just made and without its lock yet
        if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
            return
        with (folder / _IN_USE).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)


class FiguresFile:
    """The file of one process in the folder that the processes share."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / f"{os.getpid()}-{secrets.token_hex(4)}{_SUFFIX}"

    def write(self, figures: Figures) -> None:
        """Replace the file's contents; readers see the old or the new contents."""
        rows = {name: list(of.items()) for name, of in figures.items()}
        new = self._path.with_suffix(".new")
        new.write_bytes(msgspec.json.encode(_Written(os.getpid(), time.monotonic(), rows)))
        new.replace(self._path)


class SharedFigures:
    """The sums of the figures in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ended: Figures = {}
        self._one_at_a_time = threading.Lock()

    def read(self) -> Figures:
        """Return the sums; deletes the files of processes that have ended."""
        with self._one_at_a_time:
            return self._read()

    def _read(self) -> Figures:
        running = []
        for path in sorted(self._folder.glob(f"*{_SUFFIX}")):
            written = msgspec.json.decode(path.read_bytes(), type=_Written)
            figures = {name: dict(rows) for name, rows in written.figures.items()}
            if time.monotonic() - written.at < _OUTDATED_SECONDS:
                running.append(figures)
            elif _is_running(written.pid):
                running.append(counters_of(figures))
            else:
                self._ended = combined([self._ended, counters_of(figures)])
                path.unlink()
        return combined([self._ended, *running])


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
