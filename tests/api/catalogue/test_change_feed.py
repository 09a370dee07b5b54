"""`GET /catalogue/change`: what differs in a customer's catalogue since a cursor."""

import base64
from datetime import datetime, timedelta
from typing import Any

import pytest

from support.followers import Follower, by_sku, whole
from support.orders import at, buy, sell
from support.service import Customer, Service, running_service
from support.shop import price, product
from tradecounter.imports.run import roll_back_import
from tradecounter.storefront.changes.journal import forget_catalogue_changes


@pytest.fixture
def follower(shop: Service) -> Follower:
    """A follower with a trade account at the default prices."""
    return Follower.of(shop.customer())


def test_a_feed_without_a_cursor_is_empty_and_has_one(shop: Service) -> None:
    response = shop.customer().get("/catalogue/change")
    assert (response.status_code, response.json()) == (200, [])
    assert response.headers["X-Cursor"]
    assert response.headers["Cache-Control"] == "no-store"


def test_nothing_has_changed_since_the_catalogue_was_read(follower: Follower) -> None:
    assert follower.follow() == []


def test_a_changed_unit_of_stock_is_one_small_response(shop: Service, follower: Follower) -> None:
    shop.must_load("stock", [{"sku": "CABLE", "available": 999}])
    response = follower.ask()
    [change] = response.json()
    assert (change["sku"], change["change"]) == ("CABLE", "changed")
    assert change["product"] == shop.customer().get("/product?query=CABLE").json()[0]
    head = sum(len(name) + len(value) + 4 for name, value in response.headers.raw)
    assert head + len(response.content) < 2000
    assert follower.follow() == []


def test_an_order_changes_the_stock_of_all_customers(shop: Service, follower: Follower) -> None:
    buy(shop.customer(), [("PHONE", 1)])
    shop.refresh()
    assert follower.follow() == [("PHONE", "changed")]


def test_a_changed_detail_is_told(shop: Service, follower: Follower) -> None:
    shop.must_load("products", [product("PHONE", name="Telephone")])
    assert follower.follow() == [("PHONE", "changed")]
    assert follower.products["PHONE"]["name"] == "Telephone"


def test_a_product_that_is_the_same_after_an_import_is_not_told(shop: Service, follower: Follower) -> None:
    shop.must_load("products", [product("CABLE", weight_kg="0.1")])
    shop.must_load("price-list", [price("CABLE", "1.99", "1.79")])
    assert follower.follow() == []


def test_a_new_product_is_told_when_it_can_be_bought(shop: Service, follower: Follower) -> None:
    shop.must_load("products", [product("NEW")])
    assert follower.follow() == []
    shop.must_load("price-list", [price("NEW", 5)])
    assert follower.follow() == [("NEW", "changed")]


def test_a_product_that_is_not_sold_any_more_is_removed_and_comes_back(shop: Service, follower: Follower) -> None:
    sku = sell(shop, "SEASONAL", 7, available=5)
    follower.follow()
    shop.must_load("products", [product(sku, active=False)])
    assert follower.follow() == [(sku, "removed")]
    shop.must_load("stock", [{"sku": sku, "available": 4}])
    shop.must_load("products", [product(sku, name="Nobody hears of this", active=False)])
    assert follower.follow() == []
    shop.must_load("products", [product(sku, active=True)])
    assert follower.follow() == [(sku, "changed")]


def test_a_sku_in_other_case_is_removed_as_it_was(shop: Service, follower: Follower) -> None:
    sell(shop, "cased-1", 7, available=5)
    follower.follow()
    early, customer = (
        Follower(follower.servers, products={**follower.products}, cursor=follower.cursor),
        shop.customer(),
    )
    shop.must_load("products", [product("Cased-1")])
    assert follower.follow() == [("cased-1", "removed"), ("Cased-1", "changed")]
    shop.must_load("products", [product("CASED-1")])
    assert follower.follow() == [("Cased-1", "removed"), ("CASED-1", "changed")]
    assert early.follow() == [("cased-1", "removed"), ("Cased-1", "removed"), ("CASED-1", "changed")]
    assert early.products == follower.products == whole(customer)


def test_a_product_that_is_gone_is_removed_in_all_its_spellings(shop: Service, follower: Follower) -> None:
    sell(shop, "cased-2", 7, available=5)
    follower.follow()
    shop.must_load("products", [product("cased-2", active=False)])
    shop.must_load("products", [product("CASED-2", active=False)])
    assert follower.follow() == [("cased-2", "removed"), ("CASED-2", "removed")]
    shop.must_load("products", [product("Cased-2", active=False)])
    assert follower.follow() == []


def test_a_product_without_a_price_is_removed(shop: Service, follower: Follower) -> None:
    sku = sell(shop, "UNPRICED", 7, available=5)
    follower.follow()

    async def withdraw(tx: Any) -> None:
        await (await tx.connection()).execute(
            "delete from price where product_id = (select id from product where sku = 'UNPRICED')"
        )
        await (await tx.connection()).execute("update change set version = version + 1 where topic = 'prices'")

    shop.in_transaction(withdraw)
    shop.refresh()
    assert follower.follow() == [(sku, "removed")]


def test_a_changed_price_is_told_to_those_who_pay_it(shop: Service) -> None:
    shop.must_load("price-list", [price("SWITCH", 250, price_list="gold"), price("CABLE", 1, price_list="gold")])
    usual, gold = Follower.of(shop.customer()), Follower.of(shop.customer(price_list="gold"))
    shop.must_load("price-list", [price("SWITCH", 260)])
    assert (usual.follow(), gold.follow()) == ([("SWITCH", "changed")], [])
    shop.must_load("price-list", [price("SWITCH", 251, price_list="gold")])
    assert (usual.follow(), gold.follow()) == ([], [("SWITCH", "changed")])
    # The list has no price for phones, so its customers pay the default one.
    shop.must_load("price-list", [price("PHONE", 51)])
    assert (usual.follow(), gold.follow()) == ([("PHONE", "changed")], [("PHONE", "changed")])


@pytest.mark.parametrize("terms", [{"price_list": "silver"}, {"discount": "10"}, {"trade_account": "false"}])
def test_changed_terms_are_told(shop: Service, terms: dict[str, str]) -> None:
    shop.must_load("price-list", [price("SWITCH", 240, price_list="silver")])
    shop.must_load("incoming", [{"sku": "SWITCH", "incoming": 5, "expected_on": "2026-07-01T09:00:00"}])
    customer = shop.customer()
    follower = Follower.of(customer)
    email = customer.get("/customer").json()["email_address"]
    shop.must_load("customers", [{"email_address": email, **terms}])
    told = dict(follower.follow())
    assert told["SWITCH"] == "changed"
    assert "discount" in terms or told.keys() == {"SWITCH"}
    assert follower.products == whole(customer)


def test_an_expected_delivery_is_told_to_trade_accounts(shop: Service, follower: Follower) -> None:
    retail = Follower.of(shop.customer(trade_account=False))
    shop.must_load("incoming", [{"sku": "PHONE", "incoming": 7, "expected_on": "2026-08-01T09:00:00"}])
    assert (follower.follow(), retail.follow()) == ([("PHONE", "changed")], [])


def test_a_rolled_back_import_is_told(shop: Service, follower: Follower) -> None:
    before = whole(follower.servers[0])
    imported = shop.must_load("price-list", [price("CABLE", 3)]).id
    assert imported is not None
    assert follower.follow() == [("CABLE", "changed")]
    shop.in_transaction(lambda tx: roll_back_import(tx, imported, shop.clock.now()))
    shop.refresh()
    assert follower.follow() == [("CABLE", "changed")]
    assert follower.products == before == whole(follower.servers[0])


def test_many_changes_come_in_pages_and_what_changes_meanwhile_comes_after_them(shop: Service) -> None:
    customer = shop.customer()
    skus = [sell(shop, f"PAGED-{number}", 7, available=5) for number in range(5)]
    follower = Follower.of(customer, limit=2)
    shop.must_load("stock", [{"sku": sku, "available": 6} for sku in skus])
    first = [change["sku"] for change in follower.ask().json()]
    shop.must_load("stock", [{"sku": sku, "available": 7} for sku in first])
    second = [change["sku"] for change in follower.ask().json()]
    third = [change["sku"] for change in follower.ask().json()]
    assert first + second + third == skus
    assert [follower.products[sku]["availability"]["available"] for sku in skus] == [6, 6, 6, 6, 6]
    told = [sku for sku, _ in follower.follow()]
    assert set(first) <= set(told)
    assert follower.products == whole(customer)


def test_pages_that_became_empty_go_on_with_what_followed(shop: Service) -> None:
    customer = shop.customer()
    skus = [sell(shop, f"EMPTIED-{number}", 7, available=5) for number in range(3)]
    follower = Follower.of(customer, limit=2)
    email = customer.get("/customer").json()["email_address"]
    shop.must_load("customers", [{"email_address": email, "discount": "20"}])
    follower.ask()
    shop.must_load("customers", [{"email_address": email, "discount": "0"}])
    follower.follow()
    assert skus[0] in follower.products
    assert follower.products == whole(customer)


def test_terms_that_change_while_pages_are_read_and_back_lose_nothing(shop: Service) -> None:
    customer = shop.customer()
    last = sell(shop, "FLIPPED", 7, available=5)
    follower = Follower.of(customer, limit=1)
    email = customer.get("/customer").json()["email_address"]
    shop.must_load("customers", [{"email_address": email, "discount": "20"}])
    follower.ask()
    shop.must_load("customers", [{"email_address": email, "discount": "0"}])
    shop.must_load("stock", [{"sku": last, "available": 6}])
    response = follower.ask()
    shop.must_load("customers", [{"email_address": email, "discount": "20"}])
    assert response.status_code == 410
    follower.read()
    follower.follow()
    assert follower.products == whole(customer)


def test_customers_with_equal_terms_get_equal_changes_but_for_contract_prices(shop: Service) -> None:
    usual, equal, special = (Follower.of(shop.customer()) for _ in range(3))
    agreed = {name: value for name, value in price("PHONE", 3).items() if name != "price_list"}
    shop.must_load("contract-prices", [{"customer_id": special.servers[0].id, **agreed}])
    shop.must_load("price-list", [price("PHONE", 73), price("CABLE", "2.01", "1.79")])
    assert usual.follow() == equal.follow()
    assert special.follow() == [("PHONE", "changed"), ("CABLE", "changed")]
    assert {follower.products["PHONE"]["single_unit_cost"] for follower in (usual, equal)} == {73.0}
    for follower in (usual, equal, special):
        assert follower.products == whole(follower.servers[0])


def test_a_contract_price_is_told_to_nobody_else_whoever_asks_first(shop: Service) -> None:
    usual, special = (Follower.of(shop.customer()) for _ in range(2))
    agreed = {name: value for name, value in price("PHONE", 3).items() if name != "price_list"}
    shop.must_load("contract-prices", [{"customer_id": special.servers[0].id, **agreed}])
    special.follow()
    turns = [(sku, order) for sku in ("CABLE", "PHONE") for order in ((usual, special), (special, usual))]
    for number, (sku, order) in enumerate(turns, start=31):
        shop.must_load("stock", [{"sku": sku, "available": number}])
        for follower in order:
            assert follower.follow() == [(sku, "changed")]
            assert follower.products == whole(follower.servers[0])
    assert special.products["PHONE"]["single_unit_cost"] == 3.0
    assert usual.products["PHONE"]["single_unit_cost"] != 3.0


def test_a_copy_that_is_read_in_pages_loses_a_product_that_moves_between_them(shop: Service) -> None:
    """Why the guide reads the catalogue in one response: the product has not changed, so no change brings it back.

    The one whose removal moved it is told after the first page's cursor, so that the pages can be read again.
    """
    skus = [sell(shop, f"MOVING-{number}", 7, available=5) for number in range(4)]
    customer = shop.customer()
    in_one = Follower.of(customer)
    pages = "/product?query=moving&limit=2&page="
    first = customer.get(f"{pages}1")
    shop.must_load("products", [product(skus[0], active=False)])
    in_pages = Follower([customer], products=by_sku(first) | by_sku(customer.get(f"{pages}2")))
    in_pages.cursor = first.headers["X-Cursor"]
    assert in_pages.follow() == in_one.follow() == [(skus[0], "removed")]
    assert [sku for sku in skus if sku in in_pages.products] == [skus[1], skus[3]]
    assert [sku for sku in skus if sku in in_one.products] == skus[1:]
    assert in_one.products == whole(customer)


def test_a_cursor_is_on_every_response_that_shows_products(shop: Service) -> None:
    customer = shop.customer()
    for path in ("/product?limit=2", "/product/PHONE", "/product?limit=0&accept=text/csv"):
        responses = [customer.get(path) for _ in range(3)]  # the later ones from the cache
        tag = responses[0].headers["ETag"]
        responses += [customer.get(path, headers={"If-None-Match": tag}) for _ in range(2)]
        responses.append(customer.http.head(path))
        assert [each.status_code for each in responses] == [200, 200, 200, 304, 304, 200]
        for response in responses:
            follower = Follower([customer], cursor=response.headers["X-Cursor"])
            assert follower.follow() == []


def test_a_cached_response_has_a_cursor_of_its_own_time(shop: Service) -> None:
    customer = shop.customer()
    first = customer.get("/product?limit=3")
    before = shop.clock.now()
    shop.clock.set(before + timedelta(days=30))
    try:
        shop.refresh()
        again = customer.get("/product?limit=3")
        assert again.headers["ETag"] == first.headers["ETag"]
        assert Follower([customer], cursor=first.headers["X-Cursor"]).ask().status_code == 410
        assert Follower([customer], cursor=again.headers["X-Cursor"]).ask().status_code == 200
    finally:
        shop.clock.set(before)
        shop.refresh()


def test_a_cursor_expires_after_seven_days(shop: Service) -> None:
    customer = shop.customer()
    follower = Follower.of(customer)
    with at(shop, shop.clock.now() + timedelta(days=7)):
        assert follower.ask().status_code == 200
    with at(shop, shop.clock.now() + timedelta(days=7, seconds=1)):
        response = Follower([customer], cursor=follower.cursor).ask()
    assert (response.status_code, response.json()["code"]) == (410, "cursor_expired")


def test_old_changes_are_deleted_after_their_cursors_have_expired(shop: Service) -> None:
    keep, now = timedelta(days=7), shop.clock.now()
    follower = Follower.of(shop.customer())
    shop.must_load("price-list", [price("PHONE", 71)])

    def forget(moment: datetime) -> int:
        return shop.in_transaction(lambda tx: forget_catalogue_changes(tx, moment, keep))

    assert forget(now) == 0
    assert forget(now + keep) == 0
    assert forget(now + keep + timedelta(hours=2)) > 0
    assert forget(now + keep + timedelta(hours=2)) == 0
    shop.must_load("price-list", [price("PHONE", 72)])
    # The clock of this process did not advance, so only the deleted versions tell.
    assert follower.ask().status_code == 410


def test_a_cursor_of_another_customer_has_no_use(shop: Service, follower: Follower) -> None:
    response = Follower([shop.customer()], cursor=follower.cursor).ask()
    assert (response.status_code, response.json()["code"]) == (410, "cursor_expired")


@pytest.mark.parametrize("cursor", ["x", "é", "A" * 30, "A" * 5000, "=", "A" * 61])
def test_what_is_no_cursor_is_rejected(shop: Service, cursor: str) -> None:
    response = shop.customer().get("/catalogue/change", params={"after": cursor})
    assert (response.status_code, response.json()["code"]) == (400, "invalid")
    assert response.json()["message"].startswith("after: ")


def test_an_empty_cursor_begins(shop: Service) -> None:
    response = shop.customer().get("/catalogue/change?after=")
    assert (response.status_code, response.json()) == (200, [])


@pytest.mark.parametrize("query", ["limit=0", "limit=501", "wait=21", "wait=-1", "limit=x"])
def test_parameters_out_of_range_are_rejected(shop: Service, query: str) -> None:
    assert shop.customer().get(f"/catalogue/change?{query}").status_code == 400


def test_a_cursor_tells_nothing_of_prices(shop: Service) -> None:
    shop.must_load("price-list", [price("SWITCH", 240, price_list="secret-list")])
    cursor = shop.customer(price_list="secret-list").get("/catalogue/change").headers["X-Cursor"]
    assert b"secret" not in base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))


def test_a_cursor_works_after_the_secret_key_was_replaced(shop: Service, follower: Follower) -> None:
    former = shop.settings.secret_key
    with running_service(shop.database_url, secret_key="n" * 64, former_secret_keys=former) as replaced:
        [customer] = follower.servers
        follower.servers = [Customer(customer.id, customer.key, replaced.client(**{"X-Api-Key": customer.key}))]
        assert follower.follow() == []


def test_an_attribute_with_another_name_is_told_of_all_products(shop: Service, follower: Follower) -> None:
    shop.must_load("attributes", [{"key": "ports", "name": "Ports", "type": "int"}])
    shop.must_load("products", [product("PHONE", attributes={"ports": "2"})])
    follower.follow()
    shop.must_load("attributes", [{"key": "ports", "name": "Sockets", "type": "int"}])
    told = follower.follow()
    assert {change for _, change in told} == {"changed"}
    assert follower.products["PHONE"]["attributes"] == {"Sockets": "2"}


def test_what_customers_do_not_see_of_a_product_is_not_told(shop: Service, follower: Follower) -> None:
    shop.must_load("products", [product("CABLE", weight_kg="0.1", purchase_cost="0.77", external_id="ERP-CABLE")])
    assert follower.follow() == []
