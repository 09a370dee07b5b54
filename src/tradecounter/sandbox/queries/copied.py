"""The tables and columns that a sandbox copies; what is not listed here never leaves the live database."""

from collections.abc import Mapping, Sequence
from typing import LiteralString

from msgspec import Struct, field
from psycopg.sql import SQL, Composable, Composed, Identifier

from tradecounter.db.changes import Topic

_DEACTIVATED: LiteralString = "update {table} t set active = false where active and {missing}"
_DELETED: LiteralString = "delete from {table} t where {missing}"


class Copied(Struct, frozen=True, kw_only=True):
    """A table of which some columns are copied.

    Attributes:
        made_up: SQL expressions for columns whose values are not copied, but must be there.
        gone: what happens to rows that the live database does not have; empty: they stay.
        stamped: whether rows have the transaction that wrote them.
    """

    table: str
    key: Sequence[str]
    copied: Sequence[str]
    made_up: Mapping[str, LiteralString] = field(default_factory=dict)
    gone: LiteralString = ""
    stamped: bool = False

    @property
    def columns(self) -> list[str]:
        """All columns that are written."""
        return [*self.copied, *self.made_up]

    def selected(self) -> Composed:
        """Return what is read from the live table, in the order of `columns`."""
        made_up: list[Composable] = [SQL(expression) for expression in self.made_up.values()]
        return SQL(", ").join([*map(Identifier, self.copied), *made_up])


_COSTS = ("single_unit_cost", "five_plus_unit_cost", "ten_plus_unit_cost")
# Each table refers only to earlier ones.
COPIED: Sequence[Copied] = (
    Copied(table="manufacturer", key=("key",), copied=("key", "name", "active"), gone=_DEACTIVATED),
    Copied(
        table="category", key=("key",), copied=("key", "name", "parent_key", "position", "active"), gone=_DEACTIVATED
    ),
    Copied(
        table="attribute", key=("key",), copied=("key", "name", "type", "possible_values", "active"), gone=_DEACTIVATED
    ),
    Copied(table="synonym_group", key=("key",), copied=("key", "words", "active"), gone=_DEACTIVATED),
    Copied(
        table="product",
        key=("id",),
        copied=(
            "id", "sku", "sku_key", "ean", "name", "manufacturer", "weight_kg", "box_width_mm", "box_height_mm",
            "box_length_mm", "clearance_product", "configurable", "consumer_unit_cost", "description",
            "description_html", "short_description", "store_url", "images", "categories", "attributes",
            "related_products", "similar_products", "active", "components", "documents",
        ),
        gone=_DEACTIVATED,
    ),
    Copied(table="price_list", key=("key",), copied=("key",)),
    Copied(
        table="price",
        key=("price_list", "product_id"),
        copied=("price_list", "product_id", *_COSTS),
        gone=_DELETED,
        stamped=True,
    ),
    Copied(
        table="stock_level",
        key=("product_id",),
        copied=("product_id", "available", "location"),
        gone="update {table} t set available = 0, changed_by = pg_current_xact_id() where available > 0 and {missing}",
        stamped=True,
    ),
    Copied(
        table="incoming_stock",
        key=("product_id", "expected_on"),
        copied=("product_id", "expected_on", "incoming"),
        gone=_DELETED,
    ),
    Copied(
        table="shipping_region", key=("id",), copied=("id", "name", "countries", "postcodes", "active"),
        gone=_DEACTIVATED,
    ),
    Copied(
        table="shipping_method",
        key=("id",),
        copied=(
            "id", "provider", "description", "region", "countries", "max_weight_kg", "base_cost_net",
            "cost_per_kg_net", "transit_days", "cut_off", "active", "tracking_url",
        ),
        gone=_DEACTIVATED,
    ),
    Copied(
        table="customer",
        key=("id",),
        copied=(
            "id", "trade_account", "price_list", "discount", "credit_limit", "term_days", "packing",
            "shipping_method", "unique_references", "created_at", "blocked_at",
        ),
        made_up={
            "email_address": "'customer-' || id || '@sandbox.invalid'",
            "email_key": "'customer-' || id || '@sandbox.invalid'",
            "first_name": "'Customer'",
            "last_name": "id::text",
            "blocked_reason": "case when blocked_at is not null then 'blocked on the live site' end",
        },
    ),
    Copied(
        table="contract_price",
        key=("id",),
        copied=("id", "customer_id", "product_id", *_COSTS, "valid_from", "valid_until"),
        gone=_DELETED,
        stamped=True,
    ),
)  # fmt: skip
TOPICS: Sequence[Topic] = ("catalogue", "prices", "contracts", "customers", "deliveries", "shipping", "keys")
