"""The addresses of products' pictures: uploaded ones, and those that a page may load."""

import re
from collections.abc import Sequence

from tradecounter.kit.web_addresses import NotAWebAddressError, host_of
from tradecounter.products.queries.records import ImageRecord

PICTURE_NAME = re.compile(r"(?P<digest>[0-9a-f]{64})\.(?P<ending>png|jpg|webp)")
_FOLDER = "/picture/"
_NEVER_LOADS = (".example", ".invalid")  # reserved names: no host has them


def picture_path(digest: str, ending: str) -> str:
    """Return the path of an uploaded picture: the SHA-256 of its content, and the ending of its kind."""
    return f"{_FOLDER}{digest}.{ending}"


def uploaded_path(address: str) -> str | None:
    """Return the path in the address of an uploaded picture, or None for any other address."""
    _, folder, name = address.rpartition(_FOLDER)
    return folder + name if folder and PICTURE_NAME.fullmatch(name) else None


def pictures_of(images: Sequence[ImageRecord]) -> list[str]:
    """Return the addresses of the pictures that may load on a page, the primary one first."""
    ordered = sorted(images, key=lambda image: not image["is_primary"])
    return [address for image in ordered if (address := loadable_picture(image["url"])) is not None]


def loadable_picture(address: str) -> str | None:
    """Return the address at which a page may load a picture, or None; an uploaded one is on the page's own site."""
    try:
        host = host_of(address, ("https",))
    except NotAWebAddressError:
        return uploaded_path(address)
    if isinstance(host, str) and host.endswith(_NEVER_LOADS):
        return None
    return address
