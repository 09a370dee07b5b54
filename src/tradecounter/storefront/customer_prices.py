"""What one customer pays for products today, read from the database."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.settings import Account
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
    return (await unit_costs_by_customer(tx, [account], {account.id: product_ids}, now))[account.id]


async def unit_costs_by_customer(
    tx: Transaction, accounts: Collection[Account], product_ids: Mapping[int, Sequence[int]], now: datetime
) -> dict[int, dict[int, Decimal | None]]:
    """Return what one unit of each customer's products costs, as `unit_costs_of` does, by customer and product.

    `product_ids` are by customer.
    """
    today = uk_date(now)
    wanted_lists = {DEFAULT_LIST, *(account.price_list or DEFAULT_LIST for account in accounts)}
    wanted_products = set().union(*(product_ids[account.id] for account in accounts))
    lists = await list_prices_of_products(tx, list(wanted_products), list(wanted_lists))
    pairs = {(account.id, product) for account in accounts for product in product_ids[account.id]}
    contracts = await contract_prices_of_products(tx, pairs)
    costs: dict[int, dict[int, Decimal | None]] = {}
    for account in accounts:
        buyer = Buyer(account.id, account.price_list, account.discount)
        costs[account.id] = {
            product: explain_price(
                "", buyer, 1, contracts.get((account.id, product), ()), lists.get(product, ()), today
            ).unit_cost
            for product in product_ids[account.id]
        }
    return costs
