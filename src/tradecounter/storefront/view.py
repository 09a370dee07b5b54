"""A customer's view: the catalogue snapshot, the customer's price vector and the stock vector, all immutable."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from tradecounter.catalogue.queries.records import ProductRecord
from tradecounter.catalogue.similar_skus import similar_skus
from tradecounter.catalogue.snapshot.catalogue_snapshot import CatalogueSnapshot
from tradecounter.kit.digest import digest_of
from tradecounter.pricing.price_book import PriceVector
from tradecounter.pricing.rules import UnitCosts
from tradecounter.stock.rules import Delivery
from tradecounter.stock.stock_vector import StockVector

_NO_DELIVERIES: Mapping[int, tuple[Delivery, ...]] = {}


@dataclass(frozen=True)
class CustomerView:
    """Everything that answers a customer's questions about products, at one moment."""

    snapshot: CatalogueSnapshot
    prices: PriceVector
    stock: StockVector
    trade_account: bool
    low_stock: int

    @cached_property
    def digest(self) -> bytes:
        """A digest of everything that the view shows: equal views have equal ones, in every process."""
        settings = b"%d %d" % (self.trade_account, self.low_stock)
        return digest_of(self.snapshot.digest, self.prices.digest, self.stock.digest, settings)

    def find(self, sku: str) -> tuple[int, UnitCosts] | None:
        """Return the row and the unit costs of a product that the customer can buy, or None."""
        row = self.snapshot.row(sku)
        costs = None if row is None else self.unit_costs(row)
        return None if row is None or costs is None else (row, costs)

    def similar_skus(self, sku: str) -> list[str]:
        """Return the SKUs of products that the customer can buy that are most like one."""
        return similar_skus(self.snapshot, sku, self.prices.priced)

    def product(self, row: int) -> ProductRecord:
        """Return a row's product."""
        return self.snapshot.product(row)

    def unit_costs(self, row: int) -> UnitCosts | None:
        """Return a row's net unit costs in pence, or None when the customer has no price for it."""
        return self.prices.unit_costs(row)

    def available(self, row: int) -> int:
        """Return the units of a row that are for sale."""
        return int(self.stock.available[row])

    @property
    def shown_deliveries(self) -> Mapping[int, tuple[Delivery, ...]]:
        """The deliveries that the customer may see, by row, in order of date: trade accounts only."""
        return self.stock.deliveries if self.trade_account else _NO_DELIVERIES
