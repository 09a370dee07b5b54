"""To a customer, another customer's data does not exist (specification, section 5)."""

from dataclasses import dataclass
from datetime import timedelta

import httpx2
import pytest

from support.orders import buy, confirm, create
from support.service import Customer, Service
from support.shop import ADDRESS, STANDARD, order, price, product

PRIVATE = "PRIVATE"


def visible_in(response: httpx2.Response, name: object = "") -> tuple[int, bytes, list[tuple[str, str]]]:
    """Return everything that a response reveals; its date, request id and the name from the request reveal nothing."""
    ignored = {"date", "x-request-id"} | ({"content-length"} if name else set())
    headers = [item for item in response.headers.multi_items() if item[0] not in ignored]
    content = response.content.replace(str(name).encode(), b"NAME") if name else response.content
    return response.status_code, content, headers


@dataclass
class Victim:
    """A customer with one record of each kind."""

    customer: Customer
    address_id: int
    order_id: int
    order_reference: str
    confirmed_code: str
    pending_code: str
    expired_code: str


@pytest.fixture(scope="module")
def curious(shop: Service) -> Customer:
    return shop.customer()


@pytest.fixture(scope="module")
def victim(shop: Service) -> Victim:
    shop.must_load("products", [product(PRIVATE)])
    shop.must_load("price-list", [price(PRIVATE, 10, price_list="private")])
    customer = shop.customer(price_list="private")
    expired = create(customer)["confirmation_code"]
    shop.clock.advance(timedelta(hours=25))
    placed = buy(customer)
    address = customer.post("/customer/address", ADDRESS).json()
    return Victim(
        customer,
        address["id"],
        placed["order_id"],
        placed["order_reference"],
        placed["confirmation_code"],
        create(customer)["confirmation_code"],
        expired,
    )


@pytest.mark.spec("5 Authentication", "a customer sees its own prices and orders only")
@pytest.mark.parametrize("field", ["order_id", "order_reference", "confirmed_code", "pending_code", "expired_code"])
def test_reading_a_foreign_order_looks_like_reading_an_unknown_one(
    curious: Customer, victim: Victim, field: str
) -> None:
    foreign = str(getattr(victim, field))
    unknown = "9" * len(foreign)
    assert visible_in(curious.get(f"/order/{foreign}"), foreign) == visible_in(
        curious.get(f"/order/{unknown}"), unknown
    )
    assert curious.get(f"/order/{foreign}").status_code == 404


@pytest.mark.parametrize("field", ["confirmed_code", "pending_code", "expired_code", "order_reference", "order_id"])
@pytest.mark.parametrize("body", [None, {}, {"shipping_method": {"id": STANDARD}}, {"shipping_method": {"id": 999}}])
def test_confirming_a_foreign_order_looks_like_confirming_an_unknown_one(
    curious: Customer, victim: Victim, field: str, body: object
) -> None:
    foreign = str(getattr(victim, field))
    unknown = "x" * len(foreign)
    assert visible_in(curious.put(f"/order/{foreign}", body), foreign) == visible_in(
        curious.put(f"/order/{unknown}", body), unknown
    )
    assert curious.put(f"/order/{foreign}", body).status_code == 404


def test_deleting_a_foreign_address_is_404_and_deletes_nothing(curious: Customer, victim: Victim) -> None:
    numbers = victim.address_id, 99999999
    foreign, unknown = (curious.delete(f"/customer/address/{number}") for number in numbers)
    assert foreign.status_code == 404
    assert visible_in(foreign, numbers[0]) == visible_in(unknown, numbers[1])
    assert victim.address_id in [address["id"] for address in victim.customer.get("/customer/address").json()]


@pytest.mark.parametrize("field", ["billing_address", "shipping_address"])
def test_ordering_to_a_foreign_address_looks_like_ordering_to_an_unknown_one(
    curious: Customer, victim: Victim, field: str
) -> None:
    def rejected(number: int) -> tuple[int, bytes, list[tuple[str, str]]]:
        status, body, headers = visible_in(curious.post("/order", {**order(), field: {"id": number}}))
        return status, body.replace(str(number).encode(), b"ID"), headers

    unknown = victim.address_id + 1000
    assert rejected(victim.address_id) == rejected(unknown)
    assert rejected(victim.address_id)[0] == 400
    assert b"Leeds" not in rejected(victim.address_id)[1]


def test_a_product_without_a_price_for_the_customer_is_not_found(curious: Customer, victim: Victim) -> None:
    paths = {sku: curious.get(f"/product/{sku}") for sku in (PRIVATE, "UNKNOWN")}
    assert visible_in(paths[PRIVATE], PRIVATE) == visible_in(paths["UNKNOWN"], "UNKNOWN")
    assert victim.customer.get(f"/product/{PRIVATE}").status_code == 200
    foreign, unknown = (visible_in(curious.post("/order", order([(sku, 1)]))) for sku in (PRIVATE, "UNKNOWN"))
    assert foreign[0] == 400
    assert foreign == (unknown[0], unknown[1].replace(b"UNKNOWN", PRIVATE.encode()), unknown[2])
    for query in ("", "?query=private", "?manufacturer=acme", "?sort=price", "?inStock=true"):
        listed = curious.get(f"/product{query}")
        assert PRIVATE not in listed.text
        assert int(listed.headers["X-Total-Count"]) == len(listed.json())


@pytest.mark.spec("5 Authentication", "a customer sees its own prices and orders only")
@pytest.mark.usefixtures("victim")
def test_lists_contain_only_the_customers_own_data(shop: Service) -> None:
    newcomer = shop.customer()
    assert newcomer.get("/order").json() == []
    assert newcomer.get("/order").headers["X-Total-Count"] == "0"
    assert newcomer.get("/customer/address").json() == []
    credit = newcomer.get("/customer/credit").json()
    assert (credit["total_outstanding"], credit["outstanding_orders"]) == (0, [])


def test_an_owner_can_confirm_an_order_after_others_tried(curious: Customer, victim: Victim) -> None:
    pending = create(victim.customer)
    assert confirm(curious, pending).status_code == 404
    assert confirm(victim.customer, pending).status_code == 200


def test_two_customers_with_the_same_reference_each_find_their_own_order(shop: Service) -> None:
    first, second = shop.customer(), shop.customer()
    mine, yours = (buy(customer, customer_reference="SAME") for customer in (first, second))
    assert [found["id"] for found in first.get("/order").json()] == [mine["order_id"]]
    assert [found["id"] for found in second.get("/order").json()] == [yours["order_id"]]


def test_confirmation_codes_are_random(shop: Service) -> None:
    customer = shop.customer()
    codes = [create(customer)["confirmation_code"] for _ in range(10)]
    assert len(set(codes)) == 10
    assert all(len(code) >= 32 for code in codes)
    assert len({code[:4] for code in codes}) > 5, "no common prefix, no counter"
