"""Creates folders and files that only their owner can access."""

import os
import stat
from pathlib import Path

import structlog

log = structlog.get_logger()

_FOLDER, _FILE = 0o700, 0o600
_ANY_ACCESS = 0o077
_MORE_THAN_PASSING = 0o066  # more than mode 0711, which lets others open only files whose names they know
_IN_DATA_DIR = frozenset({"postgres", "mail", "secret.key"})  # files that the program creates in the data directory


def make_private(folder: Path) -> None:
    """Create a folder and its missing parents with mode 0700; an existing folder gets that mode if others have access.

    Logs a warning instead for a folder of another user. Raises OSError.
    """
    make_folders(folder)
    _close(folder, _ANY_ACCESS, _FOLDER)


def make_data_dir(folder: Path) -> None:
    """Create the data directory as `make_private` does, and remove others' access to the program's files in it.

    An existing directory may have mode 0711. If it contains other files, which others may need, only logs a warning.
    Raises OSError.
    """
    make_folders(folder)
    entries = {entry.name for entry in os.scandir(folder)}
    _close(folder, _MORE_THAN_PASSING, _FOLDER, shared=not entries <= _IN_DATA_DIR)
    for place in sorted(folder / name for name in entries & _IN_DATA_DIR):
        _close(place, _ANY_ACCESS, _FOLDER if place.is_dir() else _FILE)


def private_file(path: str, flags: int) -> int:
    """Open a file, for `open(…, opener=private_file)`; a new one gets mode 0600, an existing one keeps its mode."""
    return os.open(path, flags, _FILE)


def close_file(file: Path) -> None:
    """Give a file mode 0600 if others have access. Raises OSError."""
    _close(file, _ANY_ACCESS, _FILE)


def make_folders(folder: Path) -> None:
    """Create a folder and its missing parents with mode 0700. Raises OSError."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in (*reversed(missing), folder):
        place.mkdir(mode=_FOLDER, exist_ok=True)


def _close(place: Path, unwanted: int, private: int, *, shared: bool = False) -> None:
    status = place.stat()
    mode = stat.S_IMODE(status.st_mode)
    if not mode & unwanted:
        return
    if status.st_uid == os.geteuid() and not shared:
        place.chmod(private)
        log.warning("other users had access, which was removed", path=str(place), former_mode=f"{mode:04o}")
    else:
        log.warning("other users have access: remove it with chmod", path=str(place), mode=f"{mode:04o}")
