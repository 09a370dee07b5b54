"""The customer's feeds: their pages, and the files that programs read."""

import csv
import io
import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx2
import pytest

from support.orders import rows, sell
from support.pages import Person, customer_user, text_of
from support.service import Customer, Service, running_service, unused_client_address
from support.web_page import plain
from tradecounter.customers.change_account import block_customer, unblock_customer
from tradecounter.feeds.manage import reseal_feeds
from tradecounter.feeds.render import COLUMNS
from tradecounter.feeds.rules import MOST_OF_A_CUSTOMER
from tradecounter.privacy.personal_data import erase_customer

LIST = "/account/developer/feed"
SENT = {"once": ""}  # a form without fields
TERMS = {"name": "Price list", "columns": "sku\nname\nprice\navailability.available = Stock", "markup": "0"}


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.fixture
def dev(shop: Service, customer: Customer) -> Person:
    return customer_user(shop, customer.id, "developer")


def make(dev: Person, **changes: Any) -> tuple[str, str]:
    """The path of a new feed's page, and its address."""
    page = dev.sends(f"{LIST}/new", {**TERMS, **changes})
    path = re.search(rf'href="({LIST}/\d+)"', page.text)
    assert path is not None
    return path[1], address_in(page)


def address_in(page: httpx2.Response) -> str:
    found = re.search(r'<code id="address">(.*?)</code>', page.text)
    assert found is not None, page.text
    return found[1]


def read(address: str, **headers: str) -> httpx2.Response:
    """What a program gets, from an address of its own."""
    return httpx2.get(address, headers={"X-Forwarded-For": unused_client_address(), **headers})


def lines(response: httpx2.Response) -> list[dict[str, str]]:
    assert response.status_code == 200, response.text
    return list(csv.DictReader(io.StringIO(response.text, newline="")))


def test_a_feed_has_the_chosen_columns_in_their_order_and_with_their_headings(dev: Person, customer: Customer) -> None:
    _, address = make(dev)
    found = read(address)
    assert found.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert found.text.splitlines()[0] == "sku,name,price,Stock"
    products = {product["sku"]: product for product in customer.get("/product?limit=0").json()}
    assert [line["sku"] for line in lines(found)] == list(products)
    for line in lines(found):
        product = products[line["sku"]]
        assert line["name"] == product["name"]
        assert Decimal(line["price"]) == Decimal(str(product["single_unit_cost"]))
        assert line["Stock"] == str(product["availability"]["available"])


def test_a_feed_with_all_columns_shows_what_the_csv_of_products_shows(dev: Person, customer: Customer) -> None:
    _, address = make(dev, columns="\n".join(COLUMNS))
    extras = "description,description_html,short_description,related,similar"
    products = lines(customer.get(f"/product?accept=text/csv&extra={extras}"))
    found = lines(read(address))
    assert [{name: line[name] for name in product} for line, product in zip(found, products, strict=True)] == products
    assert set(found[0]) == set(COLUMNS)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    ("markup", "rounding", "vat", "price"),
    [
        ("0", "penny", "", "79.90"),
        ("12.5", "penny", "", "89.89"),
        ("12.5", "penny", "true", "107.87"),
        ("12.5", "five_pence", "", "89.90"),
        ("12.5", "ten_pence", "true", "107.90"),
        ("12.5", "pound", "", "90.00"),
        ("12.5", "ninety_nine", "", "89.99"),
        ("12.5", "ninety_nine", "true", "107.99"),
    ],
)
def test_prices_have_the_mark_up_and_vat_and_are_rounded_once(
    shop: Service, markup: str, rounding: str, vat: str, price: str
) -> None:
    sell(shop, "MARKED", "79.90", available=1)
    dev = customer_user(shop, shop.customer().id, "developer")
    path, address = make(
        dev, columns="sku\nprice\nsingle_unit_cost", query="MARKED", markup=markup, rounding=rounding, vat_included=vat
    )
    [line] = [line for line in lines(read(address)) if line["sku"] == "MARKED"]
    assert (line["price"], line["single_unit_cost"]) == (price, "79.90")
    assert f"£{price}" in text_of(dev.get(path))


@pytest.mark.parametrize(
    ("primary", "shown"), [([False, True], "1"), ([True, False], "0"), ([False, False], "0"), ([], "")]
)
def test_the_image_is_the_primary_one_or_else_the_first(shop: Service, primary: list[bool], shown: str) -> None:
    sku = f"PICTURED-{len(primary)}-{primary.count(True)}-{shown}"
    images = [{"is_primary": each, "url": f"https://shop.example/{n}"} for n, each in enumerate(primary)]
    sell(shop, sku, "79.90", available=1, images=images)
    dev = customer_user(shop, shop.customer().id, "developer")
    [line] = [line for line in lines(read(make(dev, columns="sku\nimage_url", query=sku)[1])) if line["sku"] == sku]
    assert line["image_url"] == (f"https://shop.example/{shown}" if shown else "")


def test_the_filter_is_that_of_the_list_of_products(dev: Person, customer: Customer) -> None:
    everything = lines(read(make(dev)[1]))
    _, address = make(dev, query="phone", in_stock="true", sort="price")
    found = [line["sku"] for line in lines(read(address))]
    listed = customer.get("/product?query=phone&inStock=true&sort=price").json()
    assert found == [product["sku"] for product in listed]
    assert 0 < len(found) < len(everything)


def test_wrong_terms_are_explained_beside_their_fields_and_kept(dev: Person) -> None:
    wrong = {"name": " ", "columns": "sku\nskuu = Article", "markup": "1001", "attribute": "nonsense>1"}
    page = dev.send(f"{LIST}/new", wrong)
    assert page.status_code == 400
    assert 'id="form-name-error"' in page.text
    page = dev.send(f"{LIST}/new", wrong | {"name": "A name"})
    for name in ("columns", "markup", "attribute"):
        assert f'id="form-{name}-error"' in page.text
        assert f'href="#form-{name}"' in page.text
    assert "Line 2: &#39;skuu&#39; is not one of sku" in page.text
    assert "skuu = Article" in plain(page.text)
    assert 'value="1001"' in page.text
    twice = dev.send(f"{LIST}/new", {**TERMS, "columns": "sku\nsku"})
    assert "two columns have the heading" in text_of(twice).lower()
    assert dev.send(f"{LIST}/new", {**TERMS, "columns": " "}).status_code == 400
    assert dev.send(f"{LIST}/new", {**TERMS, "markup": "1.001"}).status_code == 400
    assert dev.send(f"{LIST}/new", {**TERMS, "rounding": "up"}).status_code == 400


def test_a_change_keeps_the_address(dev: Person) -> None:
    path, address = make(dev)
    form = dev.get(f"{path}/edit")
    assert "availability.available = Stock" in form.text
    page = dev.sends(f"{path}/edit", {**TERMS, "name": "Sheet", "columns": "sku = Article", "markup": "100"})
    assert "The feed is changed." in text_of(page)
    assert "100%" in text_of(page)
    assert read(address).text.splitlines()[0] == "Article"
    assert 'value="100"' in dev.get(f"{path}/edit").text


def test_a_new_address_ends_the_old_one(dev: Person) -> None:
    path, address = make(dev)
    page = dev.sends(f"{path}/new-address", SENT)
    assert "The old one has ended." in text_of(page)
    assert address_in(page) != address
    assert read(address_in(page)).status_code == 200
    assert read(address).status_code == 404


def test_a_deleted_feed_is_gone(dev: Person) -> None:
    path, address = make(dev, name="Not for long")
    page = dev.sends(f"{path}/delete", SENT)
    assert "The feed is deleted." in text_of(page)
    assert "Not for long" not in page.text
    assert read(address).status_code == 404
    assert dev.get(path).status_code == 404


def test_the_address_is_shown_only_to_who_has_just_given_the_password(shop: Service, dev: Person) -> None:
    path, address = make(dev)
    assert address not in dev.get(path).text
    assert address_in(dev.get(f"{path}/address")) == address
    shop.clock.advance(timedelta(minutes=11))
    asked = dev.get(f"{path}/address")
    assert asked.headers["Location"].startswith("/account/sign-in/again?next=")


def test_the_address_is_shown_with_how_to_use_it(dev: Person) -> None:
    path, address = make(dev, columns="sku\nprice = Our price, net\navailability.available")
    page = dev.get(f"{path}/address")
    code = plain(page.text)
    assert f'=IMPORTDATA("{address}")' in code
    assert f'Web.Contents("{address}"' in code
    assert '{"Our price, net", Currency.Type}' in code
    assert '{"availability.available", Int64.Type}' in code
    assert "WooCommerce" in code
    assert "Regular price" in dev.get(f"{LIST}/new?use=woocommerce").text


def test_another_customers_feed_is_not_found(shop: Service, dev: Person) -> None:
    path, address = make(dev)
    stranger = customer_user(shop, shop.customer().id, "owner")
    for page in ("", "/edit", "/address", "/new-address", "/delete"):
        assert stranger.get(path + page).status_code == 404
    assert stranger.send(f"{path}/edit", TERMS).status_code == 404
    for step in ("/new-address", "/delete"):
        assert stranger.send(path + step, SENT).status_code == 404
    assert read(address).status_code == 200


def test_each_customer_gets_its_own_prices(shop: Service, dev: Person) -> None:
    other = customer_user(shop, shop.customer(discount=50).id, "developer")
    prices = [{line["sku"]: Decimal(line["price"]) for line in lines(read(make(who)[1]))} for who in (dev, other)]
    assert prices[1]["PHONE"] < prices[0]["PHONE"]


def test_an_unchanged_feed_is_not_sent_again(shop: Service, dev: Person) -> None:
    path, address = make(dev, columns="sku\navailability.available\nprice")
    first = read(address)
    assert first.headers["Cache-Control"] == "private, no-cache"
    tag = first.headers["ETag"]
    again = read(address, **{"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    shop.must_load("stock", [{"sku": "PHONE", "available": 4_321}])
    changed = read(address, **{"If-None-Match": tag})
    assert changed.status_code == 200
    tag = changed.headers["ETag"]
    dev.sends(f"{path}/edit", {**TERMS, "markup": "5"})
    assert read(address, **{"If-None-Match": tag}).status_code == 200


def test_a_blocked_customers_feed_ends_and_comes_back(shop: Service) -> None:
    customer = shop.customer()
    _, address = make(customer_user(shop, customer.id, "developer"))
    shop.in_transaction(lambda tx: block_customer(tx, customer.id, "a test", shop.clock.now()))
    assert read(address).status_code == 404
    shop.in_transaction(lambda tx: unblock_customer(tx, customer.id, shop.clock.now()))
    assert read(address).status_code == 200


def test_unknown_secrets_count_as_guesses(shop: Service, dev: Person) -> None:
    _, address = make(dev)
    here = {"X-Forwarded-For": unused_client_address()}
    for number in range(10):
        assert httpx2.get(f"{shop.url}/feed/{number:064}.csv", headers=here).status_code == 404
    blocked = httpx2.get(address, headers=here)
    assert blocked.status_code == 403
    assert int(blocked.headers["Retry-After"]) > 0
    assert read(address).status_code == 200
    assert read(f"{shop.url}/feed/%00.csv").status_code == 404


def test_a_reading_counts_against_the_rate_limit(database_url: str) -> None:
    with running_service(database_url, rate_limit=3) as service:
        customer = service.customer()
        _, address = make(customer_user(service, customer.id, "developer"))
        assert read(address).headers["RateLimit"].startswith('"customer";r=2')
        assert customer.get("/customer").status_code == 200
        assert read(address).status_code == 200
        over = read(address)
        assert over.status_code == 429
        assert int(over.headers["Retry-After"]) > 0


def test_a_feed_says_when_it_was_last_read(dev: Person) -> None:
    path, address = make(dev)
    assert "Never" in text_of(dev.get(path))
    read(address)
    assert "Never" not in text_of(dev.get(path))


def test_every_change_is_audited_by_the_person(shop: Service, dev: Person) -> None:
    path, address = make(dev)
    for _ in range(2):  # the second changes nothing
        dev.sends(f"{path}/edit", {**TERMS, "markup": "7"})
    dev.sends(f"{path}/new-address", SENT)
    dev.sends(f"{path}/delete", SENT)
    entries = rows(
        shop,
        "select action, actor_name, concat(before::text, after::text) from audit_entry where subject = %s order by id",
        "feed/" + path.rpartition("/")[2],
    )  # fmt: skip
    assert [action for action, _, _ in entries] == ["feed.add", "feed.edit", "feed.renew_address", "feed.remove"]
    assert {name for _, name, _ in entries} == {dev.email}
    secret = address.rpartition("/")[2].removesuffix(".csv")
    assert not any(secret in text for _, _, text in entries)


def test_a_customer_has_a_limited_number_of_feeds(shop: Service) -> None:
    dev = customer_user(shop, shop.customer().id, "developer")
    rows(
        shop,
        "insert into feed (customer_id, name, columns, filter, markup, rounding, vat_included, hash, secret,"
        " created_at, addressed_at) select u.customer_id, 'x', '[[\"sku\", \"sku\"]]', '{}', 0, 'penny', false,"
        " sha256(convert_to(u.id || '/' || n, 'UTF8')), '', now(), now()"
        " from customer_user u, generate_series(1, %s) n where u.id = %s returning 1",
        MOST_OF_A_CUSTOMER,
        dev.id,
    )
    full = dev.send(f"{LIST}/new", TERMS)
    assert full.status_code == 409
    assert "delete one first" in text_of(full)


def test_a_feed_whose_attribute_is_gone_says_so(shop: Service, dev: Person) -> None:
    path, address = make(dev)
    rows(
        shop,
        'update feed set filter = \'{"attribute": "gone=1"}\' where id = %s returning 1',
        int(path.rpartition("/")[2]),
    )
    assert read(address).status_code == 400
    assert "names an attribute that is gone" in text_of(dev.get(path))
    assert "Filter not valid" in text_of(dev.get(LIST))


def test_markup_in_names_and_headings_is_escaped(dev: Person) -> None:
    path, _ = make(dev, name="<i>List</i>", columns="sku = <b>Article</b>")
    for page in (dev.get(path), dev.get(LIST), dev.get(f"{path}/edit"), dev.get(f"{path}/address")):
        assert "<i>List" not in page.text
        assert "<b>Article" not in page.text


def test_addresses_are_encrypted_again_with_a_new_secret_key(shop: Service, dev: Person) -> None:
    path, address = make(dev)
    keys = ["n" * 64, shop.settings.secret_key or ""]
    shop.in_transaction(lambda tx: reseal_feeds(tx, keys))
    lost = dev.get(f"{path}/address")
    assert "The address cannot be shown" in text_of(lost)
    assert read(address).status_code == 200
    shop.in_transaction(lambda tx: reseal_feeds(tx, keys[::-1]))
    assert address_in(dev.get(f"{path}/address")) == address


def test_erasing_a_customer_deletes_its_feeds(shop: Service) -> None:
    customer = shop.customer()
    _, address = make(customer_user(shop, customer.id, "developer"))
    shop.in_transaction(lambda tx: erase_customer(tx, customer.id, shop.clock.now()))
    assert read(address).status_code == 404
    assert rows(shop, "select count(*) from feed where customer_id = %s", customer.id) == [(0,)]


@pytest.mark.parametrize(("in_stock", "said"), [("true", True), ("false", False)])
def test_a_feeds_page_says_of_stock_what_its_filter_does(shop: Service, dev: Person, in_stock: str, said: bool) -> None:
    sell(shop, "SOLD-OUT", "1.00", available=0)
    path, address = make(dev, in_stock=in_stock)
    page = text_of(dev.get(path))
    assert ("In stock Only these" in page) == said
    assert "Without these" not in page
    assert ("SOLD-OUT" in {line["sku"] for line in lines(read(address))}) != said
