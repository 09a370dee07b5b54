"""Who sells: the reseller, as invoices name it (settings)."""

from dataclasses import fields
from typing import Final

from tradecounter.billing.invoice_document import Party
from tradecounter.settings import PREFIX, Settings

_SELLER_SETTINGS: Final = ("seller_name", "seller_address", "seller_vat_number")


def seller_from(settings: Settings) -> Party:
    """Return the seller that the settings name; its tax number is the VAT number."""
    lines = (line.strip() for line in settings.seller_address.split(","))
    return Party(settings.seller_name, [line for line in lines if line], settings.seller_vat_number)


def example_settings(settings: Settings) -> list[str]:
    """Return which of the seller's settings still have the built-in example, as environment variables."""
    defaults = {setting.name: setting.default for setting in fields(Settings)}
    return [PREFIX + name.upper() for name in _SELLER_SETTINGS if getattr(settings, name) == defaults[name]]
