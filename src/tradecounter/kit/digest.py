"""Digests of data and of this program's files, which do not depend on the process."""

import os
import sys
from collections.abc import Iterable
from hashlib import sha256
from importlib import resources
from typing import Any

from tradecounter.kit.json_text import to_json

_DIGITS = 32  # of the digest in a form


def digest_of(*parts: bytes) -> bytes:
    """Return the digest of a sequence of parts."""
    digest = sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()


def seen_of(facts: Any) -> str:
    """Return the digest of what a form shows."""
    return sha256(to_json(facts)).hexdigest()[:_DIGITS]


def own_files() -> bytes:
    """Return a digest of the program's own files, the same on all machines with the same release. Takes 30 ms."""
    with resources.as_file(resources.files("tradecounter")) as package:
        files = [(str(path.relative_to(package)), path.read_bytes()) for path in sorted(package.rglob("*.py"))]
    return digest_of(*(part for name, content in files for part in (name.encode(), content)))


def installed_files(folders: Iterable[str] = sys.path) -> bytes:
    """Return a digest of the program's own files and of the folders from which it imports libraries.

    Installing or removing a library changes its folder's time; another folder in its place has another number. Raises
    OSError if files vanish meanwhile.
    """
    states = [(folder, os.stat(folder)) for folder in folders if os.path.exists(folder)]  # noqa: PTH110, PTH116 strings
    return digest_of(own_files(), *(f"{name} {state.st_ino} {state.st_mtime_ns}".encode() for name, state in states))
