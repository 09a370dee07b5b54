"""Reads the reseller's logo from a file."""

from pathlib import Path
from typing import Any, Final

import typst
from msgspec import Struct, json

from tradecounter.settings import PREFIX, SettingsError

LARGEST_LOGO: Final = 256 * 1024  # bytes; every e-mail contains the logo

_NAME: Final = f"{PREFIX}SELLER_LOGO"
_SIGNATURES: Final = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpg"}
_TRIAL: Final = b"#let logo = json(bytes(sys.inputs.logo))\n#image(bytes(logo.data), format: logo.format)"


class Logo(Struct, frozen=True):
    """An image; `format` is `png` or `jpg`."""

    content: bytes
    format: str

    @property
    def subtype(self) -> str:
        """The media type without `image/`."""
        return "jpeg" if self.format == "jpg" else self.format

    def as_input(self) -> dict[str, Any]:
        """Return the image as an input of the invoice template."""
        return {"data": list(self.content), "format": self.format}


def read_logo(path: Path) -> Logo:
    """Return the logo in a file. Raises SettingsError if invoices and e-mails cannot show it."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_LOGO + 1)
    except OSError as error:
        raise SettingsError(f"{_NAME}: {path} cannot be read: {error.strerror}") from error
    if len(content) > LARGEST_LOGO:
        raise SettingsError(f"{_NAME}: {path} is larger than {LARGEST_LOGO // 1024} KiB")
    image_format = next((found for start, found in _SIGNATURES.items() if content.startswith(start)), None)
    if image_format is None:
        raise SettingsError(f"{_NAME}: {path} is neither a PNG nor a JPEG file")
    logo = Logo(content, image_format)
    try:
        typst.compile(_TRIAL, sys_inputs={"logo": json.encode(logo.as_input()).decode()}, ignore_system_fonts=True)
    except typst.TypstError as error:
        raise SettingsError(f"{_NAME}: {path} is damaged: {error.message}") from error
    return logo
