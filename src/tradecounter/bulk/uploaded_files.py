"""Files that people upload, check and then apply.

Each process has its own files, and keeps the latest 20. A file is kept until its owner discards it, or 20 later ones
have come, at most for a day and until the process ends; also after it is applied, but without its content.
"""

import secrets
from datetime import datetime, timedelta
from pathlib import PurePath
from typing import Generic, TypeVar

from msgspec import Struct, field

from tradecounter.kit.errors import DomainError, Kind

_MOST_FILES = 20
_KEPT_FOR = timedelta(days=1)
_LONGEST_NAME = 200


def name_of_upload(filename: str | None) -> str:
    """Return the name of a file without its folders, which some browsers send too."""
    return PurePath((filename or "").replace("\\", "/")).name[:_LONGEST_NAME]


class UploadedFile(Struct, kw_only=True):
    """An uploaded file; subclasses add its content.

    Attributes:
        owner: the id of the member of staff who uploaded it; nobody else sees it.
        at: when it was uploaded.
    """

    id: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    owner: int
    name: str
    at: datetime

    @property
    def is_running(self) -> bool:
        """Whether a task reads the file, so that it cannot be discarded."""
        return False

    def close(self) -> None:
        """Free the space of the content."""


File = TypeVar("File", bound=UploadedFile)


class UploadedFiles(Generic[File]):
    """The uploaded files of one page in this process: the latest 20 of all people, and those that a task reads."""

    def __init__(self) -> None:
        self._files: dict[str, File] = {}

    def keep(self, file: File, now: datetime) -> None:
        """Keep a file. It may replace the oldest one."""
        self._drop_old(now, room=1)
        self._files[file.id] = file

    def fetch(self, file_id: str, owner: int, now: datetime) -> File:
        """Return an owner's file. Raises DomainError (not found)."""
        self._drop_old(now)
        file = self._files.get(file_id)
        if file is None or file.owner != owner:
            raise DomainError(Kind.NOT_FOUND, "this file is not kept any more: choose it again")
        return file

    def of_owner(self, owner: int, now: datetime) -> list[File]:
        """Return an owner's files, the latest first."""
        self._drop_old(now)
        return sorted((file for file in self.all() if file.owner == owner), key=lambda file: file.at, reverse=True)

    def all(self) -> list[File]:
        """Return the files of all owners."""
        return list(self._files.values())

    def discard(self, file: File) -> None:
        """Close and forget a file."""
        file.close()
        self._files.pop(file.id, None)

    def _drop_old(self, now: datetime, room: int = 0) -> None:
        """Discard the files that are too old, and the oldest of too many, so that there is room for more."""
        surplus = len(self._files) + room - _MOST_FILES
        idle = sorted((file for file in self.all() if not file.is_running), key=lambda file: file.at)
        for number, file in enumerate(idle):
            if number < surplus or file.at < now - _KEPT_FOR:
                self.discard(file)
