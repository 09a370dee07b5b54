"""Creates the seller's details and the letterhead from the settings."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Final

from msgspec import Struct

from tradecounter.letterhead.logo import Logo, read_logo
from tradecounter.settings import PREFIX, Settings

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
    return _parts(settings.seller_bank or "", "|")


def letterhead_from(settings: Settings) -> Letterhead:
    """Return the letterhead from the settings. Raises SettingsError if the logo cannot be used."""
    logo = None if settings.seller_logo is None else read_logo(settings.seller_logo)
    # What a sandbox prints is no invoice, so the example seller will do.
    return Letterhead(_seller(settings), logo, () if settings.sandbox else example_settings(settings))


def _seller(settings: Settings) -> Seller:
    return Seller(
        settings.seller_name,
        _parts(settings.seller_address, ","),
        settings.seller_vat_number,
        email=settings.seller_email,
        phone=settings.seller_phone,
        company_number=settings.seller_company_number,
        registered_office=settings.seller_registered_office,
        bank=bank_details(settings),
        mark=SANDBOX_MARK if settings.sandbox else "",
    )


def _parts(text: str, separator: str) -> list[str]:
    return [part for piece in text.split(separator) if (part := piece.strip())]


def example_settings(settings: Settings) -> list[str]:
    """Return the seller's environment variables that still have the built-in example."""
    defaults = {setting.name: setting.default for setting in fields(Settings)}
    return [PREFIX + name.upper() for name in _SELLER_SETTINGS if getattr(settings, name) == defaults[name]]
