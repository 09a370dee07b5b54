"""What a credit note takes of an invoice. Pounds."""

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace

from tradecounter.billing.rules import BilledUnits, require_at_most
from tradecounter.kit.errors import ErrorCollector, invalid
from tradecounter.kit.money import NOTHING, in_pounds, percentage, rounded


class CreditLine(Struct, frozen=True, rename={"line_id": "item_id"}):
    """Units to credit of an order's line, whose id is `item_id` on the wire; None for shipping."""

    line_id: int | None
    quantity: int


class InvoicedLine(Struct, frozen=True):
    """A line of an invoice; `line_id` is None for shipping."""

    position: int
    line_id: int | None
    quantity: int
    net: Decimal
    vat: Decimal


class NetAndVat(Struct, frozen=True):
    """An amount without VAT, and its VAT."""

    net: Decimal
    vat: Decimal


class CreditShare(Struct, frozen=True):
    """Units of an invoice's line, or an amount (without a line), with their net and VAT."""

    line: InvoicedLine | None
    units: int
    net: Decimal
    vat: Decimal


def left_of(lines: Sequence[InvoicedLine], credited: Collection[BilledUnits]) -> NetAndVat:
    """Return the net and the VAT of an invoice that are not credited yet."""
    net = sum((line.net for line in lines), NOTHING) - sum((units.net for units in credited), NOTHING)
    vat = sum((line.vat for line in lines), NOTHING) - sum((units.vat for units in credited), NOTHING)
    return NetAndVat(net, vat)


def share_of_amount(amount: Decimal, left: NetAndVat, vat_rate: Decimal) -> CreditShare:
    """Return the share of an amount without VAT, at a rate of VAT in per cent. Raises DomainError (invalid)."""
    require_at_most(amount, left.net, "which is invoiced and not yet credited, without VAT")
    vat = left.vat if amount == left.net else min(percentage(amount, vat_rate), left.vat)
    return CreditShare(line=None, units=1, net=amount, vat=vat)


def shares_of_lines(
    lines: Sequence[InvoicedLine], credited: Mapping[int, BilledUnits], wanted: Sequence[CreditLine], left: NetAndVat
) -> list[CreditShare]:
    """Return the shares of lines; `credited` is by position. Raises DomainError (invalid)."""
    by_id = {line.line_id: line for line in lines}
    errors, shares = ErrorCollector(), []
    for index, credit in enumerate(wanted):
        with errors.collecting():
            shares.append(_share(f"lines[{index}]", by_id, credited, credit))
    errors.check()
    if not shares or len({credit.line_id for credit in wanted}) < len(wanted):
        raise invalid("lines", "must name at least one line, and each line once")
    return _fitting(shares, left)


def _share(
    field: str, by_id: Mapping[int | None, InvoicedLine], credited: Mapping[int, BilledUnits], credit: CreditLine
) -> CreditShare:
    line = by_id.get(credit.line_id)
    if line is None:
        name = "shipping" if credit.line_id is None else f"item {credit.line_id}"
        raise invalid(f"{field}.item_id", f"{name} is not on the invoice")
    before = credited.get(line.position, BilledUnits())
    most = line.quantity - before.units
    if not 0 < credit.quantity <= most:
        left = f"{most} of {line.quantity} are invoiced and not yet credited"
        raise invalid(f"{field}.quantity", f"must be 1 to {most}: {left}" if most else f"must be left out: {left}")
    so_far = before.units + credit.quantity
    return CreditShare(
        line=line,
        units=credit.quantity,
        net=rounded(line.net * so_far / line.quantity) - before.net,
        vat=rounded(line.vat * so_far / line.quantity) - before.vat,
    )


def _fitting(shares: list[CreditShare], left: NetAndVat) -> list[CreditShare]:
    """Return shares whose VAT fits what is left after earlier credits; the last share takes the pennies."""
    net, vat = sum((share.net for share in shares), NOTHING), sum((share.vat for share in shares), NOTHING)
    if net > left.net:
        too_much = f"{in_pounds(net)} without VAT is too much, only {in_pounds(left.net)} is left to credit"
        raise invalid("lines", f"{too_much}: credit an amount instead")
    rest = left.vat if net == left.net else min(vat, left.vat)
    fitting = []
    for share in shares[:-1]:
        fitting.append(replace(share, vat=min(share.vat, rest)))
        rest -= fitting[-1].vat
    return [*fitting, replace(shares[-1], vat=rest)]
