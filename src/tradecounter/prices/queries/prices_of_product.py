"""The prices of one product, for the operator, in net pounds."""

from datetime import date

from msgspec import Struct

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
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
