"""The address book: valid addresses, and the effect of deletion."""

from typing import Any

import httpx2
import pytest

from support.error_bodies import error_body
from support.orders import buy, rows
from support.service import Customer, Service
from support.shop import ADDRESS, order

FULL: dict[str, Any] = {
    **ADDRESS,
    "company_name": "Example Ltd",
    "street_two": "Unit 2",
    "street_three": "Rear entrance",
    "state": "West Yorkshire",
    "contact_number": "0113 496 0000",
    "tax_number": "GB123456789",
}


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


def save(customer: Customer, address: dict[str, Any]) -> dict[str, Any]:
    response = customer.post("/customer/address", address)
    assert response.status_code == 201, response.text
    saved: dict[str, Any] = response.json()
    return saved


def error_of(customer: Customer, address: dict[str, Any]) -> str:
    response = customer.post("/customer/address", address)
    assert response.status_code == 400, response.text
    message: str = response.json()["message"]
    return message


def book(customer: Customer) -> list[dict[str, Any]]:
    addresses: list[dict[str, Any]] = customer.get("/customer/address").json()
    return addresses


@pytest.mark.spec("4 GET /customer/address", "the active addresses")
@pytest.mark.spec("4 POST /customer/address", "201 with the new id; bad data is 400")
def test_a_saved_address_comes_back_with_an_id_and_is_listed(shop: Service) -> None:
    customer = shop.customer()
    first, second = save(customer, FULL), save(customer, ADDRESS)
    assert first == {**FULL, "id": first["id"]}
    assert second == {**ADDRESS, "id": second["id"]}
    assert isinstance(first["id"], int)
    assert book(customer) == [first, second]


def test_identical_addresses_are_saved_separately(shop: Service) -> None:
    customer = shop.customer()
    assert len({save(customer, FULL)["id"] for _ in range(3)}) == 3
    assert len(book(customer)) == 3


@pytest.mark.spec("2 CustomerAddress", "the id is read-only")
@pytest.mark.parametrize("given", [1, 5001, -1, 0, None, "5001", "x", 1.5, True, [], {}, 10**40, [None], {"id": {}}])
def test_any_id_in_the_body_is_ignored(customer: Customer, given: object) -> None:
    saved = save(customer, {**FULL, "id": given})
    assert saved == {**FULL, "id": saved["id"]}
    assert saved["id"] != given


def test_optional_fields_may_be_null_or_empty(customer: Customer) -> None:
    optional = ("company_name", "street_two", "street_three", "state", "contact_number", "tax_number")
    nulls, empties = (save(customer, {**ADDRESS, **dict.fromkeys(optional, value)}) for value in (None, ""))
    assert nulls == {**ADDRESS, "id": nulls["id"]}
    assert {key: value for key, value in empties.items() if value} == {**ADDRESS, "id": empties["id"]}


@pytest.mark.spec("2 CustomerAddress", "the country is ISO 3166-1 alpha-2")
@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("UK", "use GB"),
        ("uk", "use GB"),
        ("EN", "use GB"),
        ("EL", "use GR"),
        ("XX", None),
        ("EU", None),
        ("ZZ", None),
        ("12", None),
        ("\u212aR", None),
        ("\u0131E", None),
    ],
)
def test_an_unknown_country_is_rejected_with_a_hint_where_possible(
    customer: Customer, code: str, hint: str | None
) -> None:
    message = error_of(customer, {**ADDRESS, "country_code": code})
    assert message.startswith("country_code: ")
    assert ("; use " in message) == (hint is not None)
    assert message.endswith(hint or "country code")


@pytest.mark.spec("2 CustomerAddress", "the country is ISO 3166-1 alpha-2")
@pytest.mark.parametrize("code", ["GB", "IM", "JE", "GG", "IE", "DE", "FR", "US", "KR", "AX", "GF", "SS"])
def test_countries_and_island_territories_are_accepted(customer: Customer, code: str) -> None:
    assert save(customer, {**ADDRESS, "country_code": code})["country_code"] == code


@pytest.mark.spec(
    "2 CustomerAddress", "phone numbers are local or international in the UK, and international in other countries"
)
@pytest.mark.parametrize(
    ("country", "number"),
    [
        ("GB", "0113 496 0000"),
        ("GB", "(0113) 496-0000"),
        ("GB", "07700 900123"),
        ("GB", "+44 113 496 0000"),
        ("GB", "0044 113 496 0000"),
        ("GB", "+353 1 234 5678"),
        ("JE", "01534 440000"),
        ("GG", "01481 720000"),
        ("IM", "01624 675663"),
        ("IM", "+44 1624 675663"),
        ("IE", "+353 1 234 5678"),
        ("DE", "+49 40 123456"),
        ("US", "+1 202 555 0100"),
        ("DE", "+44 113 496 0000"),
    ],
)
def test_local_uk_and_international_phone_numbers_are_accepted(customer: Customer, country: str, number: str) -> None:
    assert save(customer, {**ADDRESS, "country_code": country, "contact_number": number})["contact_number"] == number


@pytest.mark.parametrize(
    ("country", "number"),
    [
        ("IE", "01 234 5678"),
        ("DE", "040 123456"),
        ("US", "202 555 0100"),
        ("FR", "0033 1 23 45 67 89"),
        ("DE", "+49"),
        ("GB", "12"),
        ("GB", "0113 496 0000 0000 0000"),
        ("GB", "reception"),
        ("GB", "+"),
        ("GB", " "),
        ("GB", "+0 113 496 0000"),
        ("GB", ";phone-context=+44"),
        ("GB", "\u0661\u0662"),
    ],
)
def test_invalid_phone_numbers_are_rejected_with_the_field_name(customer: Customer, country: str, number: str) -> None:
    message = error_of(customer, {**ADDRESS, "country_code": country, "contact_number": number})
    assert message.startswith("contact_number: ")


@pytest.mark.spec(
    "2 CustomerAddress", "phone numbers are local or international in the UK, and international in other countries"
)
def test_the_error_for_a_local_number_outside_the_uk_shows_the_format(customer: Customer) -> None:
    message = error_of(customer, {**ADDRESS, "country_code": "IE", "contact_number": "01 234 5678"})
    assert "international format, such as +353 1 234 5678" in message


@pytest.mark.spec("4 GET /customer/address", "the active addresses")
@pytest.mark.spec("4 DELETE /customer/address/{id}", "204 without a body; unknown is 404")
def test_a_deleted_address_is_not_found_by_lists_orders_or_a_second_deletion(customer: Customer) -> None:
    saved = save(customer, FULL)
    path = f"/customer/address/{saved['id']}"
    deleted = customer.delete(path)
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert saved["id"] not in [address["id"] for address in book(customer)]
    rejected = customer.post("/order", order(billing_address={"id": saved["id"]}))
    assert (
        rejected.json()["message"]
        == f"billing_address.id: {saved['id']} is not one of your addresses; GET /customer/address lists them"
    )
    again = customer.delete(path)
    assert (again.status_code, again.json()) == (404, error_body("not_found", f"address {saved['id']} not found"))


def test_an_order_keeps_its_copy_of_a_deleted_address(shop: Service, customer: Customer) -> None:
    saved = save(customer, FULL)
    pending = customer.post("/order", order(shipping_address={"id": saved["id"]})).json()
    placed = buy(customer, shipping_address={"id": saved["id"]})
    customer.delete(f"/customer/address/{saved['id']}")
    confirmed = customer.put(f"/order/{pending['confirmation_code']}", {"shipping_method": {"id": 11}}).json()
    assert confirmed["shipping_address"] == placed["shipping_address"] == saved
    assert rows(shop, "select details ->> 'city' from address where id = %s", saved["id"]) == [("Leeds",)]


PATHS = [
    "abc", "0", "-1", "1.5", "1e3", "+1", "%201", "1%20", "1%0A", "%00", "0x1389", "\u0661", "%D9%A1", "9" * 18,
    "9" * 19, "9" * 40, "9" * 5000, "null", "true", "1,2", "1;2", "*", "%", "..%2f1", "1%27", "%FF", "²",
]  # fmt: skip


@pytest.mark.spec("4 DELETE /customer/address/{id}", "204 without a body; unknown is 404")
@pytest.mark.spec("7 404", "unknown reference, SKU, address id or code")
@pytest.mark.parametrize("part", PATHS, ids=[part[:20] for part in PATHS])
def test_a_path_without_a_valid_address_id_is_404(customer: Customer, part: str) -> None:
    before = book(customer)
    assert customer.delete(f"/customer/address/{part}").status_code == 404
    assert book(customer) == before


def test_a_single_address_is_replaced_or_deleted_and_nothing_else(customer: Customer) -> None:
    saved = save(customer, ADDRESS)

    def send(method: str) -> httpx2.Response:
        return customer.http.request(method, f"/customer/address/{saved['id']}", json={} if method != "GET" else None)

    for method in ("GET", "PATCH", "POST"):
        assert (send(method).status_code, send(method).headers["Allow"]) == (405, "DELETE, OPTIONS, PUT")
    assert saved in book(customer)
