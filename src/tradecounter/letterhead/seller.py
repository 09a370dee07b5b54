"""Creates the seller's details and the letterhead from the settings, and reads the logo from its file."""

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import typst
from msgspec import Struct, json

from tradecounter.settings import PREFIX, Settings, SettingsError

LARGEST_LOGO: Final = 256 * 1024  # bytes; every e-mail contains the logo

_LOGO_SETTING: Final = f"{PREFIX}SELLER_LOGO"
_IMAGE_SIGNATURES: Final = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpg"}
_TRIAL_DOCUMENT: Final = b"#let logo = json(bytes(sys.inputs.logo))\n#image(bytes(logo.data), format: logo.format)"


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
        raise SettingsError(f"{_LOGO_SETTING}: {path} cannot be read: {error.strerror}") from error
    if len(content) > LARGEST_LOGO:
        raise SettingsError(f"{_LOGO_SETTING}: {path} is larger than {LARGEST_LOGO // 1024} KiB")
    image_format = next((found for start, found in _IMAGE_SIGNATURES.items() if content.startswith(start)), None)
    if image_format is None:
        raise SettingsError(f"{_LOGO_SETTING}: {path} is neither a PNG nor a JPEG file")
    logo = Logo(content, image_format)
    try:
        typst.compile(
            _TRIAL_DOCUMENT, sys_inputs={"logo": json.encode(logo.as_input()).decode()}, ignore_system_fonts=True
        )
    except typst.TypstError as error:
        raise SettingsError(f"{_LOGO_SETTING}: {path} is damaged: {error.message}") from error
    return logo


SANDBOX_MARK: Final = "SANDBOX \N{EN DASH} not an invoice"
_SELLER_SETTINGS: Final = ("seller_name", "seller_address", "seller_vat_number")


class Party(Struct, frozen=True, omit_defaults=True):
    """A printed name and address; `address` contains the lines from street to country."""

    name: str
    address: list[str]
    tax_number: str | None = None


class Seller(Party, frozen=True, omit_defaults=True):
    """The reseller; `tax_number` is the VAT number, `bank` the lines of bank details."""

    email: str | None = None
    phone: str | None = None
    company_number: str | None = None
    registered_office: str | None = None
    bank: list[str] = []
    mark: str = ""  # across each page of a sandbox's documents


class Letterhead(Struct, frozen=True):
    """Header and footer of invoices and e-mails; `examples` are the settings that still have the built-in example."""

    seller: Seller
    logo: Logo | None = None
    examples: Sequence[str] = ()


def bank_details(settings: Settings) -> list[str]:
    """Return the lines of the seller's bank details; none if they are not set."""
    return _lines_of(settings.seller_bank or "", "|")


def letterhead_from(settings: Settings) -> Letterhead:
    """Return the letterhead from the settings. Raises SettingsError if the logo cannot be used."""
    logo = None if settings.seller_logo is None else read_logo(settings.seller_logo)
    # What a sandbox prints is no invoice, so the example seller will do.
    return Letterhead(_seller(settings), logo, () if settings.sandbox else example_settings(settings))


def _seller(settings: Settings) -> Seller:
    return Seller(
        settings.seller_name,
        _lines_of(settings.seller_address, ","),
        settings.seller_vat_number,
        email=settings.seller_email,
        phone=settings.seller_phone,
        company_number=settings.seller_company_number,
        registered_office=settings.seller_registered_office,
        bank=bank_details(settings),
        mark=SANDBOX_MARK if settings.sandbox else "",
    )


def _lines_of(text: str, separator: str) -> list[str]:
    return [part for piece in text.split(separator) if (part := piece.strip())]


def example_settings(settings: Settings) -> list[str]:
    """Return the seller's environment variables that still have the built-in example."""
    defaults = {setting.name: setting.default for setting in fields(Settings)}
    return [PREFIX + name.upper() for name in _SELLER_SETTINGS if getattr(settings, name) == defaults[name]]
