"""Every product of the real catalogue: by its SKU, and in the whole CSV."""

import csv
import http.client
import io
import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from support.naive_catalogue import Row, product_from_csv
from support.real_catalogue import RealShop, stock_real_shop
from support.service import Service

pytestmark = pytest.mark.long

SIGNS = "/+-"


@pytest.fixture(scope="module")
def real_shop(service: Service) -> RealShop:
    return stock_real_shop(service)


class Connection:
    """A persistent connection with a customer's key."""

    def __init__(self, url: str, key: str) -> None:
        address = urlsplit(url)
        self._http = http.client.HTTPConnection(address.hostname or "", address.port, timeout=30)
        self._http.connect()
        self._http.auto_open = 0  # a server that closes the connection fails the test
        self._headers = {"X-Api-Key": key}

    def product(self, sku: str) -> tuple[int, Any]:
        self._http.request("GET", f"/product/{quote(sku, safe='')}", headers=self._headers)
        response = self._http.getresponse()
        return response.status, json.loads(response.read(), parse_float=Decimal)

    def close(self) -> None:
        self._http.close()


@pytest.fixture
def gold(real_shop: RealShop) -> Iterator[Connection]:
    """The connection of a customer that can buy everything."""
    connection = Connection(real_shop.service.url, real_shop.visitors["gold"].customer.key)
    yield connection
    connection.close()


@pytest.mark.spec("2 Product", "SKU lookup ignores case")
def test_every_percent_encoded_sku_returns_its_own_product(real_shop: RealShop, gold: Connection) -> None:
    buyer = real_shop.visitors["gold"].buyer
    for row in real_shop.products:
        expected = real_shop.naive.shown(row, buyer, ("description", "short_description"))
        assert gold.product(row["sku"]) == (200, expected)


def test_a_sku_that_differs_by_one_sign_never_returns_another_product(real_shop: RealShop, gold: Connection) -> None:
    skus = {row["sku"].casefold() for row in real_shop.products}
    requests = 0
    dashed = [row["sku"] for row in real_shop.products if "-" in row["sku"]]
    rarer = [row["sku"] for row in real_shop.products if set(row["sku"]) & {"/", "+"}]
    for sku in rarer + dashed[::20]:
        for variant in _variants(sku):
            status, response = gold.product(variant)
            requests += 1
            if variant.casefold() in skus:
                assert (status, response["sku"].casefold()) == (200, variant.casefold())
            else:
                assert (status, response["code"]) == (404, "not_found"), variant
                assert response["message"].startswith(f"product {variant} not found"), variant
    assert requests > 50


def _variants(sku: str) -> Iterator[str]:
    """Yield the SKU with a sign replaced, removed, doubled or cut off with the rest; and with its case swapped."""
    yield sku.swapcase()
    for place, sign in enumerate(sku):
        if sign in SIGNS:
            before, after = sku[:place], sku[place + 1 :]
            yield from (before + other + after for other in SIGNS if other != sign)
            yield before + after
            yield before + 2 * sign + after
            yield before


@pytest.mark.parametrize("extra", [(), ("similar", "description_html", "related", "description", "short_description")])
@pytest.mark.parametrize("name", ["gold", "silver less 7.35 %", "no list", "contracts"])
def test_the_csv_of_the_whole_catalogue_agrees_with_the_json_in_every_field(
    real_shop: RealShop, name: str, extra: tuple[str, ...]
) -> None:
    visitor = real_shop.visitors[name]
    query = {"extra": ",".join(extra)}
    as_csv = visitor.customer.get("/product", params=query, headers={"Accept": "text/csv"})
    as_json = visitor.customer.get("/product", params={**query, "limit": 0})

    from_csv = [product_from_csv(cells) for cells in csv.DictReader(io.StringIO(as_csv.text, newline=""), strict=True)]
    from_json: list[Row] = json.loads(as_json.text, parse_float=Decimal)
    assert from_csv == from_json
    priced = [row for row in real_shop.products if real_shop.naive.costs(row["sku"], visitor.buyer)]
    assert len(from_json) == len(priced)
    assert as_csv.headers["X-Total-Count"] == as_json.headers["X-Total-Count"] == str(len(priced))


def test_the_catalogue_is_complete_and_differs_by_customer(real_shop: RealShop) -> None:
    totals = {
        name: int(visitor.customer.get("/product", params={"limit": 1}).headers["X-Total-Count"])
        for name, visitor in real_shop.visitors.items()
    }
    assert totals["gold"] == len(real_shop.products)
    assert totals["no list"] < totals["contracts"] < totals["gold"]
    assert totals["no list"] < totals["silver less 7.35 %"] < totals["gold"]


@pytest.mark.parametrize(("path", "table"), [("/category", "categories"), ("/manufacturer", "manufacturers")])
def test_reference_data_is_the_imported_data(real_shop: RealShop, path: str, table: str) -> None:
    customer = real_shop.visitors["no list"].customer
    listed = customer.get(path).json()
    imported = list(getattr(real_shop.naive.rows, table))
    assert sorted(listed, key=_key) == sorted(imported, key=_key)


def test_attributes_are_the_imported_ones_with_all_values_that_products_have(real_shop: RealShop) -> None:
    listed = {row["key"]: row for row in real_shop.visitors["no list"].customer.get("/attribute").json()}
    assert listed == {row["key"]: row for row in real_shop.naive.rows.attributes}
    for product in real_shop.products:
        for key, value in product["attributes"].items():
            assert {"value": value} in listed[key]["possible_values"]


def _key(row: Row) -> str:
    key: str = row["key"]
    return key
