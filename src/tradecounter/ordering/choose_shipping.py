"""Which shipping method an order takes: the one named, else the account's default if it was offered."""

from collections.abc import Sequence

from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.ordering.records import OfferedShipping


def offered(offers: Sequence[OfferedShipping], method_id: int) -> OfferedShipping:
    """Return the offer of a named method. Raises DomainError (invalid) when it was not offered."""
    for candidate in offers:
        if candidate.id == method_id:
            return candidate
    options = _listed(offers) if offers else "there are none; leave it out, and support names the carriage"
    raise invalid("shipping_method.id", f"{method_id} is not among the shipping options: {options}")


def choose_shipping(
    offers: Sequence[OfferedShipping], named: int | None, default: int | None
) -> OfferedShipping | None:
    """Return the method to use, or None when none is named and the default is not among the offers.

    Raises DomainError (invalid) when the named one was not offered.
    """
    if named is not None:
        return offered(offers, named)
    return next((candidate for candidate in offers if candidate.id == default), None)


def method_needed(offers: Sequence[OfferedShipping]) -> DomainError:
    """Return the refusal of an order for which no shipping method can be settled."""
    if not offers:
        return DomainError(
            Kind.PRECONDITION_FAILED, "shipping_method: there are no shipping options: ask support to name the carriage"
        )
    return DomainError(
        Kind.PRECONDITION_FAILED,
        "shipping_method: is required, since the account has no default among the shipping options: " + _listed(offers),
    )


def _listed(offers: Sequence[OfferedShipping]) -> str:
    return ", ".join(f"{offer.id} ({offer.provider}, {offer.description})" for offer in offers)
