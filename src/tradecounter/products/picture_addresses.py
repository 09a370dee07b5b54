"""Where pictures that staff upload are, on the customers' site."""

import re

NAME = re.compile(r"(?P<digest>[0-9a-f]{64})\.(?P<ending>png|jpg|webp)")
_FOLDER = "/picture/"


def picture_path(digest: str, ending: str) -> str:
    """Return the path of an uploaded picture: the SHA-256 of its content, and the ending of its kind."""
    return f"{_FOLDER}{digest}.{ending}"


def uploaded_path(address: str) -> str | None:
    """Return the path in the address of an uploaded picture, or None for any other address."""
    _, folder, name = address.rpartition(_FOLDER)
    return folder + name if folder and NAME.fullmatch(name) else None
