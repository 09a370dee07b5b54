"""A customer's view: catalogue snapshot, prices and stock, all immutable; and a view for orders, as of now."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from tradecounter.customers.queries.accounts import CustomerTerms
from tradecounter.db.changes import Version, read_mark
from tradecounter.db.transaction import Transaction
from tradecounter.kit.columns.lookups import RowOfId
from tradecounter.kit.digest import digest_of
from tradecounter.kit.keys import key_form
from tradecounter.kit.text import did_you_mean
from tradecounter.prices.price_book import PriceBook, PriceVector, align_contracts, align_lists
from tradecounter.prices.queries.prices import ContractRows, Costs, PriceRows
from tradecounter.prices.rules import UnitCosts, fill_breaks
from tradecounter.products.queries.records import OrderableProduct, ProductRecord, ReferenceRecords, orderable_record
from tradecounter.products.search.query import similar_skus
from tradecounter.products.snapshot.catalogue_snapshot import CatalogueSnapshot, build_snapshot
from tradecounter.stock.queries.stock import DeliveryRows, StockRows
from tradecounter.stock.rules import Delivery, status
from tradecounter.stock.stock_vector import StockVector, empty_stock
from tradecounter.storefront.queries import TOPICS, CurrentProduct, Several, read_current_products

_NO_DELIVERIES: Mapping[int, tuple[Delivery, ...]] = {}


@dataclass(frozen=True)
class CustomerView:
    """Products, prices and stock as a customer sees them at one moment.

    `mark` names the state of the database that it shows (see `view_at`), None if it is a mixture. `day` is the
    UK date of its contract prices. `write_cursor` returns where the change feed goes on from the view.
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
        """The value of `X-Cursor` for this view; None while the parts are at different versions."""
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

    def find_by_id(self, product_id: int) -> tuple[int, UnitCosts] | None:
        """Return the row and the unit costs of a product by its id, or None if the customer cannot buy it."""
        row = self.snapshot.row_of_id.get(product_id)
        costs = None if row is None or row not in self.snapshot.active else self.unit_costs(row)
        return None if row is None or costs is None else (row, costs)

    def buyable(self, skus: Iterable[str]) -> list[str]:
        """Return the SKUs of products that the customer can buy."""
        return [sku for sku in skus if self.find(sku) is not None]

    def suggestion(self, sku: str) -> str:
        """Return a question with the SKUs most like `sku` that the customer can buy; empty if there are none."""
        return did_you_mean(similar_skus(self.snapshot, sku, self.visible))

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


_Values = tuple[Any, ...]


@dataclass(frozen=True)
class _FewProducts(CustomerView):
    """A view of a few products as the database has them; suggests the SKUs of `whole`, the process's view."""

    whole: CustomerView

    def suggestion(self, sku: str) -> str:
        return self.whole.suggestion(sku)


async def current_view(
    tx: Transaction, view: CustomerView, customer_id: int, skus: Iterable[str], today: date
) -> CustomerView:
    """Return the customer's view of products for an order, as `view_at` does. Takes a round trip, or two.

    A process learns of a change with its next poll, and needs up to seconds to lay a large one out. So an order
    compares the mark of its customer's view with the database's, which it reads in its first round trip. They differ if
    the view is older: then the order reads its products, prices and stock from the database. Reads do not wait for an
    import (docs/adr/0010).
    """
    return await view_at(tx, await read_mark(tx, TOPICS), view, customer_id, skus, today)


async def view_at(
    tx: Transaction, mark: Version, view: CustomerView, customer_id: int, skus: Iterable[str], today: date
) -> CustomerView:
    """Return `view` if it shows the state of the database with this mark, or else one of the products with these SKUs.

    `today` is the UK date of the order.
    """
    if view.mark == mark and view.day == today:
        return view
    products = await read_current_products(tx, customer_id, {key_form(sku) for sku in skus})
    return _few_products(products, view, customer_id, today)


def _few_products(
    current_products: Sequence[CurrentProduct], whole: CustomerView, customer_id: int, today: date
) -> CustomerView:
    products = [orderable_record(each.cells) for each in current_products]
    snapshot = build_snapshot(ReferenceRecords([], [], []), products, is_searched=False)
    terms = CustomerTerms(customer_id, None, 0, whole.trade_account)
    if current_products:
        bought_at = current_products[0]
        terms = CustomerTerms(customer_id, bought_at.price_list, bought_at.discount, bought_at.trade_account)
    book = _book_of(current_products, customer_id, snapshot.row_of_id)
    return _FewProducts(
        snapshot=snapshot,
        prices=book.vector(customer_id, terms.profile, today),
        stock=_stock_of(current_products, snapshot.row_of_id),
        trade_account=terms.trade_account,
        low_stock=whole.low_stock,
        mark=None,
        day=today,
        whole=whole,
    )


def _book_of(current_products: Sequence[CurrentProduct], customer_id: int, row_of_id: RowOfId) -> PriceBook:
    lists: defaultdict[str, list[_Values]] = defaultdict(list)
    for product_id, key, *costs in _with_ids((each.id, each.lists) for each in current_products):
        lists[key].append((product_id, *costs))
    contracts = _numbers(_with_ids((each.id, each.contracts) for each in current_products), columns=6)
    return PriceBook(
        align_lists({key: _price_rows(_numbers(values, columns=4)) for key, values in lists.items()}, row_of_id),
        align_contracts(_contract_rows(customer_id, contracts), row_of_id),
    )


def _stock_of(current_products: Sequence[CurrentProduct], row_of_id: RowOfId) -> StockVector:
    levels = [(each.id, each.available, each.back_ordered, 0) for each in current_products]
    ids, incoming, expected = _numbers(_with_ids((each.id, each.deliveries) for each in current_products), columns=3)
    return (
        empty_stock(len(row_of_id))
        .with_deliveries(DeliveryRows(ids, incoming.astype(np.int32), expected), row_of_id)
        .with_levels(StockRows(*_numbers(levels, columns=4)), row_of_id)
    )


def _with_ids(lists: Iterable[tuple[int, Several]]) -> Iterator[_Values]:
    """Yield each product's lists, with its id before them."""
    for product_id, of_product in lists:
        for values in of_product or ():
            yield (product_id, *values)


def _numbers(values: Iterable[_Values], columns: int) -> NDArray[np.int64]:
    """Return columns of whole numbers."""
    return np.array(list(values), dtype=np.int64).reshape(-1, columns).T


def _price_rows(columns: NDArray[np.int64]) -> PriceRows:
    return PriceRows(columns[0], _costs(columns[1:4]))


def _contract_rows(customer_id: int, columns: NDArray[np.int64]) -> ContractRows:
    first_days, last_days = columns[4:6].astype(np.int32)
    return ContractRows(
        customer_ids=np.full_like(columns[0], customer_id),
        product_ids=columns[0],
        costs=_costs(columns[1:4]),
        first_days=first_days,
        last_days=last_days,
    )


def _costs(columns: NDArray[np.int64]) -> Costs:
    return fill_breaks(columns.T.astype(np.int32))
