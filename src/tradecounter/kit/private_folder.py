"""Folders that only their owner can enter, and files that only their owner can read."""

import os
import stat
from pathlib import Path

import structlog

log = structlog.get_logger()

_FOLDER, _FILE = 0o700, 0o600
_ANY_ACCESS = 0o077
_MORE_THAN_PASSING = 0o066  # of a folder with mode 0711, others can reach what they know the name of

# What the program itself makes in the data directory.
_IN_DATA_DIR = frozenset({"postgres", "mail", "secret.key"})


def make_private(folder: Path) -> None:
    """Make a folder, and the missing ones above it, with mode 0700; if it exists and others have access, end that.

    A folder of another user is left as it is, with a warning in the log. Raises OSError.
    """
    _make(folder)
    _close(folder, _ANY_ACCESS, _FOLDER)


def make_data_dir(folder: Path) -> None:
    """Make the data directory as `make_private` does, and close what the program made in it.

    An existing one may have mode 0711. One with files that are not the program's is left as it is, with a warning:
    other users may need them. Raises OSError.
    """
    _make(folder)
    found = {entry.name for entry in os.scandir(folder)}
    _close(folder, _MORE_THAN_PASSING, _FOLDER, shared=not found <= _IN_DATA_DIR)
    for place in sorted(folder / name for name in found & _IN_DATA_DIR):
        _close(place, _ANY_ACCESS, _FOLDER if place.is_dir() else _FILE)


def close_file(file: Path) -> None:
    """Give a file mode 0600 if others have access. Raises OSError."""
    _close(file, _ANY_ACCESS, _FILE)


def _make(folder: Path) -> None:
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in (*reversed(missing), folder):
        place.mkdir(mode=_FOLDER, exist_ok=True)


def _close(place: Path, unwanted: int, private: int, *, shared: bool = False) -> None:
    found = place.stat()
    mode = stat.S_IMODE(found.st_mode)
    if not mode & unwanted:
        return
    if found.st_uid == os.geteuid() and not shared:
        place.chmod(private)
        log.warning("other users had access, which is ended", path=str(place), former_mode=f"{mode:04o}")
    else:
        log.warning("other users have access: end it with chmod", path=str(place), mode=f"{mode:04o}")
