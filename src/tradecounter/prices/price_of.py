"""Reads what decides a customer's price of a product, and explains the price."""

from datetime import datetime

from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.kit.local_time import uk_date
from tradecounter.prices.explain_price import Buyer, ExplainedPrice, explain_price
from tradecounter.prices.queries.prices_of_product import contract_prices_of, list_prices_of
from tradecounter.products.queries.by_sku import fetch_product


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
