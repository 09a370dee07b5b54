"""What one customer pays for products today, read from the database."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import uk_date
from tradecounter.prices.explain_price import Buyer, ExplainedPrice, explain_price
from tradecounter.prices.price_book import DEFAULT_LIST
from tradecounter.prices.queries.prices_of_products import (
    contract_prices_of,
    contract_prices_of_products,
    list_prices_of,
    list_prices_of_products,
)
from tradecounter.products.queries.products import fetch_product


async def price_of(tx: Transaction, customer_id: int, sku: str, quantity: int, now: datetime) -> ExplainedPrice:
    """Return a customer's price of a product, and every other price that was considered.

    Raises DomainError (not found).
    """
    account = await fetch_account(tx, customer_id)
    product = (await fetch_product(tx, sku)).record
    return explain_price(
        product.sku,
        Buyer(account.id, account.price_list, account.discount),
        quantity,
        await contract_prices_of(tx, product.id, account.id),
        await list_prices_of(tx, product.id),
        uk_date(now),
    )


async def unit_costs_of(
    tx: Transaction, customer_id: int, product_ids: Sequence[int], now: datetime
) -> dict[int, Decimal | None]:
    """Return what one unit of each product costs a customer, in net pounds; None for a product without a price.

    Raises DomainError (not found).
    """
    account = await fetch_account(tx, customer_id)
    buyer = Buyer(account.id, account.price_list, account.discount)
    wanted_lists = list({DEFAULT_LIST, account.price_list or DEFAULT_LIST})
    contracts = await contract_prices_of_products(tx, product_ids, account.id)
    lists = await list_prices_of_products(tx, product_ids, wanted_lists)
    today = uk_date(now)
    return {
        product: explain_price("", buyer, 1, contracts.get(product, ()), lists.get(product, ()), today).unit_cost
        for product in product_ids
    }
