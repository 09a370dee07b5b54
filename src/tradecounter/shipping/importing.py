"""The import kind of shipping methods."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.customers.address_rules import check_country
from tradecounter.db.import_values import measured, pounds
from tradecounter.db.importing import ImportKind, Staged, given, merge_statement

_HEAVIEST_KG = Decimal(1_000_000)
_COLUMNS = (
    "provider", "description", "region", "countries", "max_weight_kg", "base_cost_net", "cost_per_kg_net",
    "transit_days", "cut_off", "active",
)  # fmt: skip


class ShippingMethodRow(Struct, forbid_unknown_fields=True):
    """A carrier's service to a region; costs are net pounds, `cut_off` is UK time."""

    id: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    provider: Annotated[str, Meta(min_length=1, max_length=200)] | UnsetType = UNSET
    description: Annotated[str, Meta(max_length=500)] | UnsetType = UNSET
    region: Annotated[int, Meta(ge=1, le=2**31 - 1)] | UnsetType = UNSET
    countries: Annotated[list[str], Meta(min_length=1)] | UnsetType = UNSET
    max_weight_kg: Decimal | UnsetType = UNSET
    base_cost_net: Decimal | UnsetType = UNSET
    cost_per_kg_net: Decimal | UnsetType = UNSET
    transit_days: Annotated[int, Meta(ge=0, le=365)] | UnsetType = UNSET
    cut_off: Annotated[str, Meta(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]\Z")] | UnsetType = UNSET


def _staged(method: ShippingMethodRow) -> Iterator[Staged]:
    values = {**given(method), "active": True}
    if isinstance(method.countries, list):
        for number, code in enumerate(method.countries):
            check_country(code, f"countries[{number}]")
    for name in ("base_cost_net", "cost_per_kg_net"):
        cost = getattr(method, name)
        if isinstance(cost, Decimal):
            values[name] = pounds(name, cost)
    if isinstance(method.max_weight_kg, Decimal):
        values["max_weight_kg"] = measured("max_weight_kg", method.max_weight_kg, _HEAVIEST_KG, 3)
    yield str(method.id), values


SHIPPING_METHODS = ImportKind(
    shape=ShippingMethodRow,
    staged=_staged,
    checks=(
        """
        select s.line, format('%%s: is required for a new shipping method', needed.name)
        from staged s left join shipping_method m on m.id = s.key::integer,
             (values ('provider'), ('region'), ('countries'), ('max_weight_kg'), ('base_cost_net')) as needed (name)
        where m.id is null and not jsonb_exists(s.row, needed.name)
        """,
    ),
    merge=merge_statement(
        "shipping_method",
        "id",
        _COLUMNS,
        {"description": "", "cost_per_kg_net": 0, "transit_days": 1, "cut_off": "17:00"},
        key_type="integer",
    ),
    remove="update shipping_method set active = false where active and id::text not in (select key from staged)",
    topics=("shipping",),
)
