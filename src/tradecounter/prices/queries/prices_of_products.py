"""The prices of several products for one customer."""

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal

from msgspec import Struct

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.prices.queries.prices_of_product import ContractPrice, ListPrice


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
_LIST_PRICES = Statement("""
    select product_id, price_list, single_unit_cost, five_plus_unit_cost, ten_plus_unit_cost from price
    where price_list = any(:price_lists::text[]) and product_id = any(:product_ids::bigint[])
""")
_CONTRACT_PRICES = Statement("""
    select product_id, customer_id, valid_from, valid_until, single_unit_cost, five_plus_unit_cost, ten_plus_unit_cost
    from contract_price where customer_id = :customer_id and product_id = any(:product_ids::bigint[])
    order by product_id, valid_from desc nulls last, id desc
""")


async def costed_prices_of(tx: Transaction, price_list: str, sku_keys: Sequence[str]) -> dict[str, CostedPrice]:
    """Return the prices of products on a list, by their folded SKUs."""
    found = await tx.fetch_all(_COSTED_PRICES, price_list=price_list, sku_keys=list(sku_keys))
    return {sku_key: CostedPrice(*costs) for sku_key, *costs in found}


async def list_prices_of_products(
    tx: Transaction, product_ids: Sequence[int], price_lists: Sequence[str]
) -> dict[int, list[ListPrice]]:
    """Return the prices of products on some lists, by product id."""
    found = defaultdict(list)
    rows = await tx.fetch_all(_LIST_PRICES, price_lists=list(price_lists), product_ids=list(product_ids))
    for product_id, *price in rows:
        found[product_id].append(ListPrice(*price))
    return dict(found)


async def contract_prices_of_products(
    tx: Transaction, product_ids: Sequence[int], customer_id: int
) -> dict[int, list[ContractPrice]]:
    """Return a customer's contract prices of products, past and future included, by product id; latest first."""
    found = defaultdict(list)
    rows = await tx.fetch_all(_CONTRACT_PRICES, customer_id=customer_id, product_ids=list(product_ids))
    for product_id, *price in rows:
        found[product_id].append(ContractPrice(*price))
    return dict(found)
