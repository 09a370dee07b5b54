"""Prices on lists and by contract: of one product, of several, and a customer's contract prices as a table."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import date
from decimal import Decimal

from msgspec import Struct

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.text import fold
from tradecounter.kit.wire import Amount


class ListPrice(Struct, frozen=True):
    """The prices on a price list; a missing break has the price of the next lower one."""

    price_list: str
    single_unit_cost: Amount
    five_plus_unit_cost: Amount | None
    ten_plus_unit_cost: Amount | None


class ContractPrice(Struct, frozen=True):
    """The prices of one customer, valid up to and including the last day."""

    customer_id: int
    valid_from: date | None
    valid_until: date | None
    single_unit_cost: Amount
    five_plus_unit_cost: Amount | None
    ten_plus_unit_cost: Amount | None


_LIST_PRICES_OF = Statement(
    """
    select key as price_list, p.single_unit_cost, p.five_plus_unit_cost, p.ten_plus_unit_cost
    from price_list cross join lateral (
        select * from price where price_list = key and product_id = :product_id offset 0
    ) as p order by key
    """,
    ListPrice,
)


async def list_prices_of(tx: Transaction, product_id: int) -> list[ListPrice]:
    """Return a product's prices on all lists, by the lists' keys."""
    return await tx.fetch_all(_LIST_PRICES_OF, product_id=product_id)


_CONTRACT_PRICES_OF = Statement(
    """
    select c.id as customer_id, p.valid_from, p.valid_until, p.single_unit_cost, p.five_plus_unit_cost,
           p.ten_plus_unit_cost
    from customer as c cross join lateral (
        select * from contract_price where customer_id = c.id and product_id = :product_id offset 0
    ) as p
    where :customer_id::bigint is null or c.id = :customer_id
    order by c.id, p.valid_from desc nulls last, p.id desc
    """,
    ContractPrice,
)


async def contract_prices_of(tx: Transaction, product_id: int, customer_id: int | None = None) -> list[ContractPrice]:
    """Return a product's contract prices for one or all customers, past and future included; latest first."""
    return await tx.fetch_all(_CONTRACT_PRICES_OF, product_id=product_id, customer_id=customer_id)


class CostedPrice(Struct, frozen=True):
    """A product's prices on a price list, in net pounds, and what it costs the reseller; None for none."""

    single_unit_cost: Decimal | None
    five_plus_unit_cost: Decimal | None
    ten_plus_unit_cost: Decimal | None
    purchase_cost: Decimal | None

    @property
    def of_ten(self) -> Decimal | None:
        """The price of ten units and more, if it is another one."""
        lowest = self.ten_plus_unit_cost if self.ten_plus_unit_cost is not None else self.five_plus_unit_cost
        return None if lowest == self.single_unit_cost else lowest


NO_PRICE = CostedPrice(None, None, None, None)

_COSTED_PRICES = Statement("""
    select p.sku_key, l.single_unit_cost, l.five_plus_unit_cost, l.ten_plus_unit_cost, p.purchase_cost
    from product p left join price l on l.product_id = p.id and l.price_list = :price_list
    where p.sku_key = any(:sku_keys::text[])
""")
_LIST_PRICES_OF_PRODUCTS = Statement("""
    select product_id, price_list, single_unit_cost, five_plus_unit_cost, ten_plus_unit_cost from price
    where price_list = any(:price_lists::text[]) and product_id = any(:product_ids::bigint[])
""")
_CONTRACT_PRICES_OF_PRODUCTS = Statement("""
    select product_id, customer_id, valid_from, valid_until, single_unit_cost, five_plus_unit_cost, ten_plus_unit_cost
    from contract_price
    join unnest(:customer_ids::bigint[], :product_ids::bigint[]) as wanted (customer_id, product_id)
        using (customer_id, product_id)
    order by customer_id, product_id, valid_from desc nulls last, id desc
""")


async def costed_prices_of(tx: Transaction, price_list: str, sku_keys: Sequence[str]) -> dict[str, CostedPrice]:
    """Return the prices of products on a list, by their folded SKUs."""
    rows = await tx.fetch_all(_COSTED_PRICES, price_list=price_list, sku_keys=list(sku_keys))
    return {sku_key: CostedPrice(*costs) for sku_key, *costs in rows}


async def list_prices_of_products(
    tx: Transaction, product_ids: Sequence[int], price_lists: Sequence[str]
) -> dict[int, list[ListPrice]]:
    """Return the prices of products on some lists, by product id."""
    prices = defaultdict(list)
    rows = await tx.fetch_all(_LIST_PRICES_OF_PRODUCTS, price_lists=list(price_lists), product_ids=list(product_ids))
    for product_id, *price in rows:
        prices[product_id].append(ListPrice(*price))
    return dict(prices)


async def contract_prices_of_products(
    tx: Transaction, wanted: Collection[tuple[int, int]]
) -> dict[tuple[int, int], list[ContractPrice]]:
    """Return contract prices by the ids of customer and product, past and future included; latest first.

    `wanted` has each pair once.
    """
    prices = defaultdict(list)
    rows = await tx.fetch_all(
        _CONTRACT_PRICES_OF_PRODUCTS,
        customer_ids=[customer for customer, _ in wanted],
        product_ids=[product for _, product in wanted],
    )
    for product_id, *costs in rows:
        price = ContractPrice(*costs)
        prices[price.customer_id, product_id].append(price)
    return dict(prices)


class ContractRow(Struct, frozen=True):
    """A contract price, in net pounds, of a product; valid up to and including the last day."""

    id: int
    sku: str
    sku_key: str
    name: str
    valid_from: date | None
    valid_until: date | None
    single_unit_cost: Decimal
    five_plus_unit_cost: Decimal | None
    ten_plus_unit_cost: Decimal | None

    def state(self, today: date) -> str:
        """Return whether the price is valid on a UK day: `valid`, `later` or `ended`."""
        if self.valid_from is not None and self.valid_from > today:
            return "later"
        return "ended" if self.valid_until is not None and self.valid_until < today else "valid"


_CONTRACT_TABLE = Statement(
    """
    select p.id, product.sku, product.sku_key, product.name, p.valid_from, p.valid_until, p.single_unit_cost,
           p.five_plus_unit_cost, p.ten_plus_unit_cost
    from contract_price as p join product on product.id = p.product_id
    where p.customer_id = :customer_id and (product.sku_key, p.id) > (:sku_key, :id)
      and (
          :text = '' or position(:text in product.sku_key) > 0
          or position(lower(normalize(:given, nfc)) in lower(product.name)) > 0
      )
    order by product.sku_key, p.id limit :most
    """,
    ContractRow,
)


async def contract_table(
    tx: Transaction, customer_id: int, text: str, most: int, after: tuple[str, int] | None = None
) -> list[ContractRow]:
    """Return a customer's contract prices by SKU, past and future ones too; `text` is in the SKU or the name."""
    sku_key, row_id = after or ("", 0)
    return await tx.fetch_all(
        _CONTRACT_TABLE, customer_id=customer_id, text=fold(text), given=text, sku_key=sku_key, id=row_id, most=most
    )
