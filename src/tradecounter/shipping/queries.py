"""Reads shipping methods and regions."""

from typing import Any, LiteralString

import structlog

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.shipping.rules import Region, ShippingMethod

log = structlog.get_logger()


METHOD_VIEW: LiteralString = "select id::text as key, to_jsonb(m) as row from shipping_method m"

REGION_VIEW: LiteralString = "select id::text as key, to_jsonb(r) as row from shipping_region r"


def _method(**row: Any) -> ShippingMethod | None:
    """Return a row's method; log and return None for an unreadable row, which no import writes."""
    countries = row["countries"]
    numbers = (row["max_weight_kg"], row["base_cost_net"], row["cost_per_kg_net"])
    if (
        isinstance(countries, list)
        and all(isinstance(country, str) for country in countries)
        and all(number.is_finite() for number in numbers)
    ):
        return ShippingMethod(**{**row, "countries": frozenset(countries)})
    log.error("shipping method cannot be read and is not offered", shipping_method=row["id"])
    return None


_READ_METHODS = Statement(
    """
    select id, provider, description, region, countries, max_weight_kg, base_cost_net, cost_per_kg_net,
           transit_days, least(cut_off, '23:59:59') as cut_off
    from shipping_method where active order by id
    """,
    _method,
)


async def read_methods(tx: Transaction) -> list[ShippingMethod]:
    """Return all active shipping methods."""
    return [method for method in await tx.fetch_all(_READ_METHODS) if method is not None]


_READ_REGIONS = Statement("select id, name, countries, postcodes from shipping_region where active order by id")


async def read_regions(tx: Transaction) -> list[Region]:
    """Return all active imported regions."""
    rows = await tx.fetch_all(_READ_REGIONS)
    return [Region(id_, name, frozenset(countries), frozenset(postcodes)) for id_, name, countries, postcodes in rows]


# The pattern of the tracking page of a shipment `s`: its method's or, if a carrier is named instead of the method's
# provider, that of any method of the carrier. Inactive methods count.
TRACKING_PATTERN: LiteralString = """
    (select m.tracking_url from shipping_method m
     where case when s.carrier is null then m.id = s.shipping_method else lower(m.provider) = lower(s.carrier) end
     order by m.tracking_url is null, m.id = s.shipping_method desc, m.id limit 1)
"""
