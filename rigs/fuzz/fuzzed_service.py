"""The service in a process of its own, with customers without a rate limit."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rigs.fuzz.raw_requests import Buyer
from support.command_line import SECRET, Running, started
from support.people import customer_user
from support.service import running_service
from support.shop import price, product, stock_shop

BUYERS = 4
SETTINGS = {
    "TRUSTED_PROXIES": "127.0.0.1",
    "RATE_LIMIT": "0",
    "MAX_PENDING_ORDERS": "1000000",
    "ANSWER_MEMORY": str(16 * 1024 * 1024),
}


@contextmanager
def fuzzed_service(url: str, folder: Path, products: int = 0) -> Iterator[tuple[Running, list[Buyer]]]:
    """The service in a process of its own, on a filled database, and its customers.

    The catalogue has some products more than the small shop.
    """
    with running_service(url) as filling:
        stock_shop(filling)
        filling.must_load("stock", [{"sku": "PHONE", "available": 1_000_000}])
        skus = [f"SKU-{number}" for number in range(products)]
        filling.must_load("products", [product(sku, description="cable " * 50) for sku in skus])
        filling.must_load("price-list", [price(sku, number + 1) for number, sku in enumerate(skus)])
        buyers = []
        for number in range(BUYERS):
            email = f"buyer{number}@fuzz.example"
            customer = filling.customer(credit="999999999.00", email_address=email)
            buyers.append(Buyer(customer.key, email, customer_user(filling, customer.id).email))
    environment = {"DATABASE_URL": url, "SECRET_KEY": SECRET, "DATA_DIR": str(folder), **SETTINGS}
    named = {f"TRADECOUNTER_{name}": value for name, value in environment.items()}
    with started("serve", "--port", "0", "--json", folder=folder, environment=named) as service:
        yield service, buyers
