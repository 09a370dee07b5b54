"""Ids that the reseller's own programs give to customers, orders and products. Customers never see them."""

from typing import Annotated

from msgspec import Meta

from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.kit.keys import UnusableKeyError, clean_key

ExternalId = Annotated[
    str,
    Meta(
        max_length=200,
        description="Its id in another of your programs, unique for its kind, which customers never see. Null or "
        "empty: none.",
    ),
]


def clean_external_id(text: str | None) -> str | None:
    """Return an external id as it is stored; None for an empty one. Raises DomainError (invalid)."""
    if text is None or not text.strip():
        return None
    try:
        return clean_key(text)
    except UnusableKeyError as error:
        raise invalid("external_id", str(error)) from error


def taken_external_id(external_id: str | None) -> DomainError:
    """Return the error (conflict) for an external id that another record of the kind has."""
    return DomainError(Kind.CONFLICT, f"external_id: {external_id!r} is another one's")
