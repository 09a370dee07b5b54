"""What other users of the machine can reach of the files below a folder, and read of processes."""

import stat
from collections.abc import Iterator
from pathlib import Path

OTHERS = 0o077  # the group included
_ENTER = 0o011


def open_to_others(folder: Path) -> list[str]:
    """The files, folders and sockets below a folder that others have any access to, with their modes."""
    return [f"{place.relative_to(folder)} {mode:04o}" for place, mode in _reachable(folder) if mode & OTHERS]


def _reachable(folder: Path) -> Iterator[tuple[Path, int]]:
    for place in sorted(folder.iterdir()):
        found = place.lstat()
        if stat.S_ISLNK(found.st_mode):  # what it leads to has permissions of its own
            continue
        mode = stat.S_IMODE(found.st_mode)
        yield place, mode
        if stat.S_ISDIR(found.st_mode) and mode & _ENTER:
            yield from _reachable(place)


def command_lines(parent: int) -> list[str]:
    """The command lines of a process and of all that it has started, which every user of the machine can read."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(place.name)] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
    family = {parent}
    while more := {child for child, of in parents.items() if of in family} - family:
        family |= more
    return [Path(f"/proc/{pid}/cmdline").read_bytes().decode().replace("\0", " ") for pid in sorted(family)]
