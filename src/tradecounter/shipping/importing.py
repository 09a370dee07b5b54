"""The import kinds of shipping methods and regions."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.bulk.cells import TIME
from tradecounter.bulk.kinds import ImportKind, Staged, by_row, deactivation, deactivation_of_added
from tradecounter.bulk.rows import RowNotes, measured, pounds, required_text, set_members, text_of
from tradecounter.bulk.statements import merge_statement, required_when_new
from tradecounter.customers.address_rules import check_country
from tradecounter.kit.numbers import KILOGRAM_PLACES, Kilograms, Pounds
from tradecounter.shipping.queries import METHOD_VIEW, REGION_VIEW
from tradecounter.shipping.rules import UK_MAINLAND, is_tracking_pattern

Number = Annotated[int, Meta(ge=1, le=2**31 - 1)]

_HEAVIEST_KG = Decimal(1_000_000)
_AREA = re.compile(r"[A-Z]{1,2}([0-9]{1,2}[A-Z]?)?")
_COLUMNS = (
    "provider", "description", "region", "countries", "max_weight_kg", "base_cost_net", "cost_per_kg_net",
    "transit_days", "cut_off", "tracking_url", "active",
)  # fmt: skip


class ShippingMethodRow(Struct, forbid_unknown_fields=True):
    """A carrier's service to a region; costs are net pounds, `cut_off` is UK time."""

    id: Number
    provider: Annotated[str, Meta(min_length=1, max_length=200)] | UnsetType = UNSET
    description: Annotated[str, Meta(max_length=500)] | UnsetType = UNSET
    region: Number | UnsetType = UNSET
    countries: Annotated[list[str], Meta(min_length=1)] | UnsetType = UNSET
    max_weight_kg: Kilograms | UnsetType = UNSET
    base_cost_net: Pounds | UnsetType = UNSET
    cost_per_kg_net: Pounds | UnsetType = UNSET
    transit_days: Annotated[int, Meta(ge=0, le=365)] | UnsetType = UNSET
    cut_off: Annotated[str, Meta(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]\Z"), TIME] | UnsetType = UNSET
    tracking_url: Annotated[str, Meta(max_length=1000)] | UnsetType | None = UNSET


class ShippingRegionRow(Struct, forbid_unknown_fields=True):
    """A shipping region; `postcodes` are British areas (`BT`) and districts (`KW15`)."""

    id: Number
    name: Annotated[str, Meta(min_length=1, max_length=200)] | UnsetType = UNSET
    countries: list[str] | UnsetType = UNSET
    postcodes: list[str] | UnsetType = UNSET


def _staged_method(method: ShippingMethodRow, notes: RowNotes) -> Iterator[Staged]:
    values = {**set_members(method), "active": True}
    if "provider" in values:
        values["provider"] = required_text(notes, "provider", method.provider)
    _check_countries(method.countries, notes)
    if isinstance(method.tracking_url, str) and not is_tracking_pattern(method.tracking_url):
        rule = "must be an http or https URL with {tracking_number} after its host"
        notes.error("tracking_url", f"{rule}, not {method.tracking_url!r}")
    for name in ("base_cost_net", "cost_per_kg_net"):
        if name in values:
            values[name] = pounds(notes, name, getattr(method, name))
    if "max_weight_kg" in values:
        values["max_weight_kg"] = measured(notes, "max_weight_kg", method.max_weight_kg, _HEAVIEST_KG, KILOGRAM_PLACES)
    yield text_of(method.id), values


def _staged_region(region: ShippingRegionRow, notes: RowNotes) -> Iterator[Staged]:
    values = {**set_members(region), "active": True}
    if "name" in values:
        values["name"] = required_text(notes, "name", region.name)
    _check_countries(region.countries, notes)
    if isinstance(region.postcodes, list):
        values["postcodes"] = ["".join(text.upper().split()) for text in region.postcodes]
        for number, area in enumerate(values["postcodes"]):
            if not _AREA.fullmatch(area):
                written = region.postcodes[number]
                notes.error(f"postcodes[{number}]", f"{written!r} is neither an area (BT) nor a district (KW15)")
        if values["postcodes"] and region.id != UK_MAINLAND and "GB" in values.get("countries", ()):
            notes.warn("countries", "GB puts all of Britain in this region, not only its postcodes")
    yield text_of(region.id), values


def _check_countries(countries: list[str] | UnsetType, notes: RowNotes) -> None:
    if isinstance(countries, list):
        for number, code in enumerate(countries):
            with notes.collecting():
                check_country(code, f"countries[{number}]")


SHIPPING_METHODS = ImportKind(
    shape=ShippingMethodRow,
    area="catalogue",
    hint="Each row is a service to a region, with its price, cut-off and transit days.",
    table="shipping_method",
    key=("id",),
    prepare=by_row(_staged_method),
    checks=(
        required_when_new(
            "shipping_method",
            "id",
            ("provider", "region", "countries", "max_weight_kg", "base_cost_net"),
            "shipping method",
            key_type="integer",
        ),
    ),
    merge=merge_statement(
        "shipping_method",
        "id",
        _COLUMNS,
        {"description": "", "cost_per_kg_net": 0, "transit_days": 1, "cut_off": "17:00"},
        key_type="integer",
    ),
    removal=deactivation("shipping_method", "id"),
    undo=deactivation_of_added("shipping_method", "id"),
    view=METHOD_VIEW,
    topics=("shipping",),
)

SHIPPING_REGIONS = ImportKind(
    shape=ShippingRegionRow,
    area="catalogue",
    hint="Each row is a region, with its countries or postcode areas.",
    table="shipping_region",
    key=("id",),
    prepare=by_row(_staged_region),
    checks=(required_when_new("shipping_region", "id", ("name",), "shipping region", key_type="integer"),),
    merge=merge_statement(
        "shipping_region",
        "id",
        ("name", "countries", "postcodes", "active"),
        {"countries": [], "postcodes": []},
        key_type="integer",
    ),
    removal=deactivation("shipping_region", "id"),
    undo=deactivation_of_added("shipping_region", "id"),
    view=REGION_VIEW,
    topics=("shipping",),
)
