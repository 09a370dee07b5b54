"""A customer's view: catalogue snapshot, price vector and stock vector, all immutable."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

from pyroaring import BitMap

from tradecounter.db.changes import Version
from tradecounter.kit.digest import digest_of
from tradecounter.prices.price_book import PriceVector
from tradecounter.prices.rules import UnitCosts
from tradecounter.products.queries.records import OrderableProduct, ProductRecord
from tradecounter.products.similar_skus import similar_skus
from tradecounter.products.snapshot.catalogue_snapshot import CatalogueSnapshot
from tradecounter.stock.rules import Delivery, status
from tradecounter.stock.stock_vector import StockVector

_NO_DELIVERIES: Mapping[int, tuple[Delivery, ...]] = {}


@dataclass(frozen=True)
class CustomerView:
    """Products, prices and stock as a customer sees them at one moment.

    `mark` names the state of the database that it shows (`storefront/current_view.py`), None if it is a mixture. `day`
    is the UK date of its contract prices. `write_cursor` returns where the change feed goes on from the view.
    """

    snapshot: CatalogueSnapshot
    prices: PriceVector
    stock: StockVector
    trade_account: bool
    low_stock: int
    mark: Version | None
    day: date
    write_cursor: Callable[[], bytes] | None = field(default=None, kw_only=True, compare=False)

    @cached_property
    def cursor(self) -> bytes | None:
        """The value of `X-Cursor` for a response that shows this view; None while the data has no one position."""
        return None if self.write_cursor is None else self.write_cursor()

    @cached_property
    def digest(self) -> bytes:
        """A digest of everything that the view shows; equal views have equal digests in every process."""
        settings = b"%d %d" % (self.trade_account, self.low_stock)
        return digest_of(self.snapshot.digest, self.prices.digest, self.stock.digest, settings)

    @cached_property
    def visible(self) -> BitMap:
        """The rows of the products that the customer can buy."""
        return self.snapshot.active & self.prices.priced

    def find(self, sku: str) -> tuple[int, UnitCosts] | None:
        """Return the row and the unit costs of a product, or None if the customer cannot buy it."""
        row = self.snapshot.row(sku)
        costs = None if row is None else self.unit_costs(row)
        return None if row is None or costs is None else (row, costs)

    def find_id(self, product_id: int) -> tuple[int, UnitCosts] | None:
        """Return the row and the unit costs of a product by its id, or None if the customer cannot buy it."""
        row = self.snapshot.row_of_id.get(product_id)
        costs = None if row is None or row not in self.snapshot.active else self.unit_costs(row)
        return None if row is None or costs is None else (row, costs)

    def similar_skus(self, sku: str) -> list[str]:
        """Return the SKUs most like `sku` that the customer can buy."""
        return similar_skus(self.snapshot, sku, self.visible)

    def product(self, row: int) -> ProductRecord:
        """Return a row's product."""
        return self.snapshot.product(row)

    def orderable(self, row: int) -> OrderableProduct:
        """Return what an order needs of a row's product."""
        return self.snapshot.orderable(row)

    def unit_costs(self, row: int) -> UnitCosts | None:
        """Return a row's net unit costs in pence, or None if the customer has no price for it."""
        return self.prices.unit_costs(row)

    def available(self, row: int) -> int:
        """Return the units of a row that are for sale."""
        return int(self.stock.available[row])

    def stock_status(self, row: int) -> str:
        """Return the status of a row's stock as the customer may see it."""
        return status(self.available(row), self.low_stock, delivery_shown=bool(self.shown_deliveries.get(row)))

    @property
    def shown_deliveries(self) -> Mapping[int, tuple[Delivery, ...]]:
        """The deliveries that the customer may see, by row, in order of date; none unless it has a trade account."""
        return self.stock.deliveries if self.trade_account else _NO_DELIVERIES
