"""The shop: the catalogue with its filters, a product's page, and the basket that the order form has."""

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from html import unescape
from importlib import import_module
from typing import Any

import httpx2
import pytest
from msgspec.structs import replace

from support.backoffice import BackOfficeSite
from support.orders import buy, create, rows, sell
from support.pages import Person, customer_user, fields_of, staff_member, text_of
from support.service import Customer, Service
from support.shop import ADDRESS, NEXT_DAY
from tradecounter.db.changes import bump
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.kit.clock import uk_date
from tradecounter.orders.queries.changes import take_out_of_basket
from tradecounter.orders.queries.orders import fetch_own_order_by_code

SHOP, FORM, ADD = "/account/product", "/account/new-order", "/account/basket/add"
REST = {
    **{f"shipping_address-{name}": value for name, value in ADDRESS.items()},
    "shipping_address-id": "new",
    "billing_address-id": "same",
    "customer_reference": "PO-SHOP",
}


def skus(person: Person, **query: Any) -> list[str]:
    """The SKUs that the catalogue shows."""
    page = person.get(SHOP, params=query)
    assert page.status_code == 200, page.text
    return re.findall(r'name="sku" value="([^"]*)"><input type="hidden" name="back"', page.text)


def filters_of(page: httpx2.Response) -> dict[str, list[str]]:
    """What the form with the filters would send unchanged."""
    form = re.search(r'<form id="narrow".*?</form>', page.text, re.DOTALL)
    assert form is not None
    sent: dict[str, list[str]] = {}
    for tag in re.findall(r"<input [^>]*>", form[0]):
        if 'type="checkbox"' not in tag or tag.endswith(" checked>"):
            name, value = (re.search(rf' {each}="([^"]*)"', tag) for each in ("name", "value"))
            assert name is not None
            assert value is not None
            sent.setdefault(name[1], []).append(unescape(value[1]))
    return sent


def basket(person: Person) -> dict[str, str]:
    """Units by SKU, as the form of an order has them."""
    fields = fields_of(person.get(FORM), where=lambda name: name.startswith("items-"))
    return {fields[f"items-{n}-sku"]: fields[f"items-{n}-quantity"] for n in range(len(fields) // 3)}


def add(person: Person, sku: str, quantity: Any = "1", **fields: str) -> str:
    page = person.sends(ADD, {"sku": sku, "quantity": str(quantity), **fields})
    return text_of(page)


def test_the_catalogue_shows_the_customers_price_stock_and_margin(shop: Service, buyer: Person) -> None:
    sku = sell(shop, "SHELF-1", "12.50", name="Shelfable phone", available=9, consumer_unit_cost=25)
    page = text_of(buyer.get(SHOP, params={"query": "shelfable"}))
    for text in (
        "Shelfable phone",
        sku,
        "£12.50",
        "RRP £25.00 · 50% margin",
        "9 in stock",
        "1 product for",
    ):
        assert text in page, text
    cheaper = customer_user(shop, shop.customer(discount=10).id)
    assert "£11.25" in text_of(cheaper.get(SHOP, params={"query": "shelfable"}))


def test_filters_are_in_the_address_and_can_be_left_out_again(shop: Service, buyer: Person) -> None:
    sell(shop, "NARROW-1", "4.00", name="Narrowable one", available=0)
    sell(shop, "NARROW-2", "40.00", name="Narrowable two", available=3)
    assert skus(buyer, query="narrowable") == ["NARROW-2", "NARROW-1"]
    assert skus(buyer, query="narrowable", sort="price") == ["NARROW-1", "NARROW-2"]
    assert skus(buyer, query="narrowable", inStock="true") == ["NARROW-2"]
    page = buyer.get(SHOP, params={"query": "narrowable", "price": "0-5"})
    assert "NARROW-1" in page.text
    assert "NARROW-2" not in page.text
    assert "Below £5" in text_of(page)
    assert f'href="{SHOP}?query=narrowable"' in page.text  # the same without the filter


def test_a_link_skips_the_filters_and_leads_to_the_products(buyer: Person) -> None:
    page = buyer.get(SHOP).text
    assert page.index('href="#products"') < page.index('class="facet"') < page.index('id="products"')
    assert 'href="#products"' not in buyer.get(f"{SHOP}?query=nothing-of-it").text


@pytest.mark.parametrize("query", [{"query": " "}, {"query": "phone", "price": "x"}], ids=["blank", "wrong filter"])
def test_where_all_products_are_shown_no_words_are_said_to_be_searched_for(
    buyer: Person, query: dict[str, str]
) -> None:
    page = buyer.get(SHOP, params=query)
    assert "products, at your prices without VAT" in text_of(page)
    assert '<option value="">By SKU</option>' in page.text


def test_a_filter_that_no_box_stands_for_stays_when_the_form_is_sent(shop: Service, buyer: Person) -> None:
    shop.must_load("attributes", [{"key": "sockets", "name": "Wall sockets", "type": "int"}])
    for sockets in (4, 8, 16):
        sell(shop, f"KEPT-{sockets}", 12, name="Keepable hub", available=1, attributes={"sockets": str(sockets)})
    for query, found in (
        ({"attribute": "sockets>=8"}, ["KEPT-16", "KEPT-8"]),
        ({"attribute": "wall sockets=8"}, ["KEPT-8"]),
        ({"sku": "kept-4"}, ["KEPT-4"]),
        ({"price": "11-13", "reduced": "false"}, ["KEPT-16", "KEPT-4", "KEPT-8"]),
        ({"manufacturer": "ACME", "category": "nothing"}, []),
    ):
        assert skus(buyer, query="keepable", **query) == found
        form = filters_of(buyer.get(SHOP, params={"query": "keepable", **query}))
        assert skus(buyer, **form) == found, form
        assert query.keys() <= form.keys()


def test_a_box_for_reduced_products_takes_the_place_of_its_contrary(shop: Service, buyer: Person) -> None:
    for number, clearance in enumerate((True, False)):
        sell(shop, f"BOXED-{number}", 12, name="Boxable hub", available=1, clearance_product=clearance)
    form = filters_of(buyer.get(SHOP, params={"query": "boxable", "reduced": "false"}))
    assert skus(buyer, **{**form, "reduced": "true"}) == ["BOXED-0"]


def test_a_search_says_how_its_words_were_read(shop: Service, buyer: Person) -> None:
    sell(shop, "MISTYPE-1", "4.00", name="Corrigible bluetooth dongle")
    page = text_of(buyer.get(SHOP, params={"query": "corrigible blutooth"}))
    assert "MISTYPE-1" in page
    assert "No product has “blutooth”: read as “bluetooth”. Search for what I typed" in page
    address = "/account/product?inStock=true&amp;query=%22corrigible+blutooth%22"
    assert f'href="{address}"' in buyer.get(SHOP, params={"query": "corrigible blutooth", "inStock": "true"}).text
    nothing = text_of(buyer.get(SHOP, params={"query": "corrigible blutooth", "price": "5000-"}))
    assert "read as “bluetooth”" in nothing  # which does not say that there are some
    assert "Nothing matches" in nothing
    as_typed = text_of(buyer.get(SHOP, params={"query": '"corrigible blutooth"'}))
    assert "MISTYPE-1" not in as_typed
    assert "Nothing matches" in as_typed


@pytest.mark.parametrize(
    "query",
    [
        "attribute=nothing%3D1",
        "price=cheap",
        "sort=colour",
        "page=0",
        "inStock=maybe",
        "reduced=true&clearance=false",
        "&".join(f"price={n}-" for n in range(101)),
    ],
)
def test_what_is_wrong_with_a_filter_is_said_on_the_page(buyer: Person, query: str) -> None:
    page = buyer.get(f"{SHOP}?{query}")
    assert page.status_code == 400
    assert 'role="alert"' in page.text


def test_a_page_beyond_the_end_is_the_last_one(buyer: Person) -> None:
    assert skus(buyer, page="999999") == skus(buyer)[:24]


def test_a_product_has_a_page_with_all_that_is_known_of_it(shop: Service, customer: Customer, buyer: Person) -> None:
    sku = sell(
        shop,
        "PAGE/1 ½",
        "10.00",
        name="Pageable <router>",
        available=50,
        description="Two lines.\nOf text.",
        documents=[{"name": "Datasheet", "url": "https://files.example/sheet.pdf"}],
        images=[{"url": "https://pictures.shop.test/1.jpg", "is_primary": True}],
        related_products=["PHONE"],
        attributes={},
    )
    buy(customer, [(sku, 3)])
    page = buyer.get(f"{SHOP}/PAGE%2F1%20%C2%BD")
    said = text_of(page)
    for text in (
        "Pageable <router>",
        "Two lines.",
        "Datasheet",
        "Goes with it",
        "Product PHONE",
        "Last bought",
        "3 at £10.00",
    ):
        assert text in said, text
    for added in (sku, "PHONE"):
        assert f'aria-label="Add {added} to the basket"' in page.text
    assert 'href="https://files.example/sheet.pdf" rel="noopener noreferrer external"' in page.text
    assert 'src="https://pictures.shop.test/1.jpg"' in page.text
    other = customer_user(shop, shop.customer().id)
    assert "Last bought" not in text_of(other.get(f"{SHOP}/PAGE%2F1%20%C2%BD"))
    for path in ("NOTHING", "%00", "x" * 300):
        assert buyer.get(f"{SHOP}/{path}").status_code == 404


def test_a_description_that_is_only_html_is_shown_as_text(shop: Service, buyer: Person, sam: Person) -> None:
    markup = "<p>Six&nbsp;lines</p><script>no()</script><ul><li>and <b>PoE</b></li></ul>"
    sku = sell(shop, "MARKED-UP", description_html=markup, short_description="Short")
    for page in (buyer.get(f"{SHOP}/{sku}"), sam.get(f"/product/{sku}")):
        assert "Description Six lines and PoE" in re.sub(r" Pictures? | +", " ", text_of(page))
        assert "no()" not in page.text


def test_expected_units_are_counted_in_words(shop: Service) -> None:
    sku = sell(shop, "EXPECTED-1", available=1)
    shop.must_load(
        "incoming",
        [{"sku": sku, "incoming": n, "expected_on": f"2030-01-0{n}"} for n in (1, 2)],
    )
    buyer = customer_user(shop, shop.customer(trade_account=True).id)
    page = text_of(buyer.get(f"{SHOP}/{sku}"))
    assert "2 deliveries expected 1 Jan 2030 : 1 unit 2 Jan 2030 : 2 units" in page
    add(buyer, sku)
    assert "Low stock 1 unit " in text_of(buyer.get(FORM))


def test_shop_basket_and_quick_lines_say_the_same_of_what_is_to_come(shop: Service) -> None:
    today = uk_date(shop.clock.now())
    late, soon = (f"{today - timedelta(days=1)}", f"{today}")
    came, comes = (sell(shop, f"TO-COME-{name}") for name in ("LATE", "TODAY"))
    for sku, days in ((came, [late]), (comes, [late, soon])):
        shop.must_load("incoming", [{"sku": sku, "incoming": 7, "expected_on": day} for day in days])
    trade, other = (customer_user(shop, shop.customer(trade_account=each).id) for each in (True, False))
    said = f"expected {today.day} {today:%b %Y}"
    for buyer, expected, status in ((trade, True, "On order"), (other, False, "Out of stock")):
        add(buyer, comes)
        form = fields_of(buyer.get(FORM))
        quick = text_of(buyer.send(FORM, {**form, "quick-0-sku": comes, "preview": "live"}))
        for page in (text_of(buyer.get(f"{SHOP}/{comes}")), text_of(buyer.get(FORM)), quick):
            assert status in page
            assert (said in page or said.replace("expected", "due") in page) is expected, page
        assert ("a delivery is late" in text_of(buyer.get(f"{SHOP}/{came}"))) is expected


def test_addresses_that_never_load_have_a_drawing_alone(shop: Service, buyer: Person) -> None:
    for number, url in enumerate(("https://images.example/1.jpg", "http://pictures.shop.test/1.jpg")):
        sku = sell(shop, f"DRAWN-{number}", images=[{"url": url, "is_primary": True}])
        page = buyer.get(f"{SHOP}/{sku}").text
        assert url not in page
        assert "drawings." in page


def test_an_uploaded_picture_loads_from_the_pages_own_site_also_without_https(shop: Service, buyer: Person) -> None:
    path = f"/picture/{'ab' * 32}.png"
    sku = sell(shop, "UPLOADED-1", images=[{"url": f"http://shop.test{path}", "is_primary": True}])
    assert f'<img src="{path}"' in buyer.get(f"{SHOP}/{sku}").text


def test_products_that_the_customer_cannot_buy_are_not_in_the_shop(shop: Service, buyer: Person) -> None:
    shop.must_load("products", [{"sku": "UNPRICED", "name": "Unpriceable", "manufacturer": "acme"}])
    assert skus(buyer, query="unpriceable") == []
    assert buyer.get(f"{SHOP}/UNPRICED").status_code == 404
    assert buyer.send(ADD, {"sku": "UNPRICED", "quantity": "1"}).status_code == 400


def test_what_is_added_is_in_the_basket_of_this_user_on_every_device(shop: Service, customer: Customer) -> None:
    one, colleague = customer_user(shop, customer.id), customer_user(shop, customer.id)
    assert "2 units of PHONE added to your basket." in add(one, "PHONE", 2)
    assert "1 unit of phone added to your basket." in add(one, "phone")
    add(one, "CABLE", 5)
    assert basket(one) == {"PHONE": "3", "CABLE": "5"}
    assert basket(colleague) == {}
    header = re.search(r'id="basket".*?</a>', one.get("/account").text, re.DOTALL)
    assert header is not None
    assert re.search(r'basket-count">2<.*£', header[0], re.DOTALL)


def test_the_same_form_sent_twice_adds_once(buyer: Person) -> None:
    for _ in range(2):
        add(buyer, "PHONE", 2, once="7" * 32)
    assert basket(buyer) == {"PHONE": "2"}


def test_the_form_leads_back_to_the_page_of_the_shop_that_it_came_from(buyer: Person) -> None:
    for back, leads_to in (
        (f"{SHOP}?query=phone", f"{SHOP}?query=phone"),
        (f"{SHOP}/PHONE", f"{SHOP}/PHONE"),
        ("https://evil.example", SHOP),
        ("//evil.example", SHOP),
        ("/account/order", SHOP),
        ("/account/productx", SHOP),
        (f"{SHOP}?query=\u4e2d", SHOP),
        (f"{SHOP}?query=a\rb", SHOP),
    ):
        response = buyer.send(ADD, {"sku": "PHONE", "quantity": "1", "back": back})
        assert response.headers["Location"] == leads_to


def test_with_scripts_only_the_form_and_the_header_are_shown_anew(buyer: Person) -> None:
    page = buyer.send(ADD, {"sku": "PHONE", "quantity": "4"}, headers={"HX-Request": "true"})
    assert page.status_code == 200
    assert "HX-Redirect" not in page.headers
    assert "4 units added" in text_of(page)
    assert 'basket-count">1<' in page.text


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("quantity", ["0", "-1", "x", "1.5", "100001", "9" * 30, ""])
def test_a_wrong_quantity_is_said_beside_its_field_and_adds_nothing(buyer: Person, quantity: str) -> None:
    for headers in ({}, {"HX-Request": "true"}):
        page = buyer.send(ADD, {"sku": "PHONE", "quantity": quantity}, headers=headers)
        assert page.status_code == 400
        assert 'aria-invalid="true"' in page.text or "quantity" in text_of(page).lower()
    assert basket(buyer) == {}


def test_a_line_has_at_most_as_many_units_as_an_order_can_have(buyer: Person) -> None:
    add(buyer, "PHONE", 99_999)
    assert "Quantity would make more than 100,000 units" in text_of(buyer.send(ADD, {"sku": "PHONE", "quantity": "2"}))
    assert basket(buyer) == {"PHONE": "99999"}


def test_only_owners_and_buyers_have_a_basket(shop: Service, customer: Customer) -> None:
    for role in ("accounts", "developer"):
        person = customer_user(shop, customer.id, role)
        assert person.get(SHOP).status_code == 403
        assert person.send(ADD, {"sku": "PHONE", "quantity": "1"}).status_code == 403
        assert 'id="basket"' not in person.get("/account").text


def test_every_button_of_the_order_form_saves_the_basket(buyer: Person) -> None:
    buyer.send(FORM, {"do": "update", "items-0-sku": "PHONE", "items-0-quantity": "2", "quick-0-sku": "cable"})
    assert basket(buyer) == {"PHONE": "2", "CABLE": "1"}
    buyer.send(FORM, {"do": "search", "q": "x", "items-0-sku": "PHONE", "items-0-quantity": "9"})
    assert basket(buyer) == {"PHONE": "9"}


def test_a_form_with_a_wrong_line_changes_nothing_of_the_basket(buyer: Person) -> None:
    add(buyer, "SWITCH")
    fields = {"items-0-sku": "PHONE", "items-0-quantity": "many", "items-1-sku": "NOTHING", "items-1-quantity": "1"}
    buyer.send(FORM, {**fields, "items-2-sku": "CABLE", "items-2-quantity": "2"})
    assert basket(buyer) == {"SWITCH": "1"}


def test_the_good_lines_of_a_list_are_in_the_basket(buyer: Person) -> None:
    buyer.send(FORM, {"list": "PHONE 2\nPHNE 1\nCABLE many"})
    assert basket(buyer) == {"PHONE": "2"}


def test_what_another_device_added_is_shown_before_it_is_ordered(shop: Service, customer: Customer) -> None:
    buyer = customer_user(shop, customer.id)
    add(buyer, "PHONE", 1)
    form = fields_of(buyer.get(FORM))
    add(buyer, "CABLE", 2)  # in another window
    page = buyer.send(FORM, {**form, **REST, "do": "order"})
    assert page.status_code == 200
    assert "in another window" in text_of(page)
    assert basket(buyer) == {"PHONE": "1", "CABLE": "2"}
    assert buyer.send(FORM, {**fields_of(page), **REST, "do": "order"}).status_code == 303


def test_what_another_device_added_can_be_bought_before_the_process_knows_of_a_change(
    own_shop: Service,
) -> None:
    buyer = customer_user(own_shop, own_shop.customer().id)
    form = fields_of(buyer.get(FORM))
    add(buyer, "CABLE", 2)  # in another window
    own_shop.in_transaction(lambda tx: bump(tx, "prices"))  # so that the form reads its products from the database
    page = buyer.send(FORM, {**form, "quick-0-sku": "PHONE", "do": "update"})
    assert page.status_code == 200
    assert basket(buyer) == {"PHONE": "1", "CABLE": "2"}


def test_a_line_that_was_removed_does_not_come_back(buyer: Person) -> None:
    add(buyer, "PHONE", 1)
    add(buyer, "CABLE", 1)
    old = fields_of(buyer.get(FORM))
    buyer.send(FORM, old | {"items-0-quantity": "7"})
    page = buyer.send(FORM, old | {"remove": "0"})  # the browser went back, and the older form was sent
    assert "in another window" not in text_of(page)
    assert basket(buyer) == {"CABLE": "1"}


def test_confirming_takes_what_was_ordered_out_of_the_basket(shop: Service, customer: Customer) -> None:
    buyer = customer_user(shop, customer.id)
    add(buyer, "PHONE", 2)
    add(buyer, "CABLE", 3)
    made = buyer.send(FORM, {**fields_of(buyer.get(FORM)), **REST, "do": "order"})
    review = made.headers["Location"]
    assert basket(buyer) == {"PHONE": "2", "CABLE": "3"}  # nothing is ordered yet
    add(buyer, "PHONE", 5)
    assert "Thank you" in text_of(buyer.sends(review, {"shipping_method": str(NEXT_DAY)}))
    assert basket(buyer) == {"PHONE": "5"}
    buyer.send(review, {"shipping_method": str(NEXT_DAY)})  # confirmed already
    assert basket(buyer) == {"PHONE": "5"}


def test_an_order_leaves_the_basket_of_who_made_it_whoever_confirms_it(shop: Service, customer: Customer) -> None:
    maker, colleague = (customer_user(shop, customer.id) for _ in range(2))
    for person in (maker, colleague):
        add(person, "PHONE", 2)
    review = maker.send(FORM, {**fields_of(maker.get(FORM)), **REST, "do": "order"}).headers["Location"]
    colleague.sends(review, {"shipping_method": str(NEXT_DAY)})
    assert basket(maker) == {}
    assert basket(colleague) == {"PHONE": "2"}
    code = create(customer, [("PHONE", 1)])["confirmation_code"]  # by a program
    colleague.sends(f"{FORM}/{code}", {"shipping_method": str(NEXT_DAY)})
    assert basket(colleague) == {"PHONE": "2"}


@pytest.mark.parametrize("door", ["program", "staff", "reseller's program"])
def test_an_order_that_others_confirm_leaves_the_basket_of_who_made_it(office: BackOfficeSite, door: str) -> None:
    shop, customer = office.service, office.service.customer()
    maker = customer_user(shop, customer.id)
    add(maker, "PHONE", 2)
    made = maker.send(FORM, {**fields_of(maker.get(FORM)), **REST, "do": "order"})
    add(maker, "PHONE", 3)  # for the next order
    code = made.headers["Location"].rpartition("/")[2]
    method = {"shipping_method": {"id": NEXT_DAY}}
    if door == "program":
        assert customer.put(f"/order/{code}", method).status_code == 200
    elif door == "staff":
        sam = staff_member(shop, office.url, "support")
        sam.sends(f"/order/{code}/confirm", {"shipping_method": str(NEXT_DAY)})
    else:
        assert office.caller("orders:write").post(f"/api/order/{code}/confirm", json=method).status_code == 200
    assert basket(maker) == {"PHONE": "3"}


def test_what_has_left_the_basket_to_be_approved_does_not_leave_it_again(shop: Service, customer: Customer) -> None:
    maker, owner = customer_user(shop, customer.id, "buyer"), customer_user(shop, customer.id)
    add(maker, "PHONE", 2)
    review = maker.send(FORM, {**fields_of(maker.get(FORM)), **REST, "do": "order"}).headers["Location"]
    maker.sends(f"{review}/approval", {"shipping_method": str(NEXT_DAY)})
    assert basket(maker) == {}
    add(maker, "PHONE", 3)  # for the next order
    owner.sends(review, {"shipping_method": str(NEXT_DAY)})
    assert basket(maker) == {"PHONE": "3"}


def test_an_order_that_a_colleague_changes_leaves_the_basket_of_who_made_the_first(
    shop: Service, customer: Customer
) -> None:
    maker, colleague = (customer_user(shop, customer.id) for _ in range(2))
    for person in (maker, colleague):
        add(person, "PHONE", 2)
    review = maker.send(FORM, {**fields_of(maker.get(FORM)), **REST, "do": "order"}).headers["Location"]
    changed = fields_of(colleague.get(f"{FORM}?again={review.rpartition('/')[2]}")) | {"do": "order"}
    colleague.sends(colleague.send(FORM, changed).headers["Location"], {"shipping_method": str(NEXT_DAY)})
    assert basket(maker) == {}
    assert basket(colleague) == {"PHONE": "2"}


def test_an_order_in_place_of_one_to_be_approved_leaves_no_basket(shop: Service, customer: Customer) -> None:
    maker = customer_user(shop, customer.id)
    add(maker, "PHONE", 2)
    review = maker.send(FORM, {**fields_of(maker.get(FORM)), **REST, "do": "order"}).headers["Location"]
    rows(shop, "update customer_user set order_limit = 1 where id = %s returning id", maker.id)
    maker.sends(f"{review}/approval", {"shipping_method": str(NEXT_DAY)})
    rows(shop, "update customer_user set order_limit = null where id = %s returning id", maker.id)
    add(maker, "PHONE", 3)  # for the next order
    changed = fields_of(maker.get(f"{FORM}?again={review.rpartition('/')[2]}")) | {"do": "order"}
    maker.sends(maker.send(FORM, changed).headers["Location"], {"shipping_method": str(NEXT_DAY)})
    assert basket(maker) == {"PHONE": "3"}


def test_orders_that_an_older_version_made_leave_their_baskets_after_the_upgrade(
    shop: Service, customer: Customer
) -> None:
    maker, colleague = (customer_user(shop, customer.id) for _ in range(2))
    add(maker, "PHONE", 2)
    form = {**fields_of(maker.get(FORM)), **REST, "do": "order"}
    first, asked = (maker.send(FORM, form | {"customer_reference": f"PO-{n}"}).headers["Location"] for n in range(2))
    colleague.sends(f"{asked}/approval", {"shipping_method": str(NEXT_DAY)})
    for former in (first, asked):
        changed = fields_of(colleague.get(f"{FORM}?again={former.rpartition('/')[2]}")) | {"do": "order"}
        assert colleague.send(FORM, changed).status_code == 303
    create(customer)
    now = "select id, in_basket_of from orders where customer_id = %s and state = 'pending' order by id"
    known = rows(shop, now, customer.id)
    assert [of for _, of in known] == [maker.id, None, None]
    rows(shop, "update orders set in_basket_of = null where customer_id = %s returning id", customer.id)
    upgrade = import_module("tradecounter.db.migrations.versions.0102_whose_basket")
    rows(shop, f"{upgrade.IN_BASKETS} returning o.id")
    assert rows(shop, now, customer.id) == known


def test_asking_for_a_quote_takes_its_lines_out_of_the_basket(shop: Service, customer: Customer) -> None:
    buyer = customer_user(shop, customer.id)
    add(buyer, "PHONE", 20)
    made = buyer.send(FORM, {**fields_of(buyer.get(FORM)), **REST, "do": "quote"})
    assert made.headers["Location"].startswith("/account/quote/")
    assert basket(buyer) == {}


def test_a_request_for_a_quote_that_is_sent_twice_fills_no_basket(shop: Service, customer: Customer) -> None:
    buyer = customer_user(shop, customer.id)
    add(buyer, "PHONE", 20)
    form = {**fields_of(buyer.get(FORM)), **REST, "do": "quote"}
    first, second = (buyer.send(FORM, form).headers["Location"] for _ in range(2))
    assert first == second
    assert basket(buyer) == {}


def test_a_form_that_has_made_an_order_requests_a_quote_too(shop: Service, customer: Customer) -> None:
    buyer = customer_user(shop, customer.id)
    add(buyer, "PHONE", 20)
    form = {**fields_of(buyer.get(FORM)), **REST}  # the browser's Back shows it again as it was
    order, quote = (buyer.send(FORM, {**form, "do": step}).headers["Location"] for step in ("order", "quote"))
    assert order.startswith(f"{FORM}/")
    assert quote.startswith("/account/quote/")


def test_an_order_that_is_rejected_changes_nothing_of_the_basket(shop: Service, customer: Customer) -> None:
    buyer = customer_user(shop, customer.id)
    add(buyer, "PHONE", 2)
    form = fields_of(buyer.get(FORM)) | {"items-0-quantity": "7", "do": "order"}
    assert buyer.send(FORM, form).status_code == 400  # without an address
    assert basket(buyer) == {"PHONE": "2"}


def test_changing_a_pending_order_leaves_the_basket_alone(shop: Service, customer: Customer) -> None:
    buyer = customer_user(shop, customer.id)
    add(buyer, "PHONE", 2)
    made = buyer.send(FORM, {**fields_of(buyer.get(FORM)), **REST, "do": "order"})
    add(buyer, "SWITCH", 1)
    form = buyer.get(f"{FORM}?again={made.headers['Location'].rpartition('/')[2]}")
    assert "SWITCH" not in text_of(form)
    buyer.send(FORM, {**fields_of(form), "items-0-quantity": "4", "do": "update"})
    assert basket(buyer) == {"PHONE": "2", "SWITCH": "1"}


def test_products_that_are_no_longer_sold_stay_in_the_form_with_an_explanation(shop: Service, buyer: Person) -> None:
    sku = sell(shop, "GOING", available=1)
    add(buyer, sku, 2)
    add(buyer, "PHONE")
    shop.must_load("products", [{"sku": sku, "active": False}])
    page = buyer.get(FORM)
    assert page.status_code == 200
    assert basket(buyer) == {sku: "2", "PHONE": "1"}
    sent = buyer.send(FORM, {**fields_of(page), **REST, "do": "order"})
    assert sent.status_code == 400
    assert f"product '{sku}' does not exist" in text_of(sent)


def test_two_devices_lose_nothing_that_they_add(shop: Service, customer: Customer) -> None:
    buyer = customer_user(shop, customer.id)
    with ThreadPoolExecutor(8) as pool:
        sent = list(pool.map(lambda n: buyer.send(ADD, {"sku": ("PHONE", "CABLE")[n % 2], "quantity": "1"}), range(24)))
    assert {response.status_code for response in sent} == {303}
    assert basket(buyer) == {"PHONE": "12", "CABLE": "12"}
    form = fields_of(buyer.get(FORM))
    with ThreadPoolExecutor(8) as pool:
        sent = list(pool.map(lambda n: buyer.send(FORM, form | {"items-0-quantity": str(n + 1)}), range(8)))
    assert {response.status_code for response in sent} == {200}
    assert sorted(basket(buyer)) == ["CABLE", "PHONE"]


def test_two_changes_of_a_basket_wait_for_each_other(shop: Service, customer: Customer, buyer: Person) -> None:
    for sku in ("PHONE", "CABLE"):
        add(buyer, sku, 5)
    codes = [create(customer, [(sku, 1)])["confirmation_code"] for sku in ("PHONE", "CABLE")]

    async def race() -> None:
        first_took = asyncio.Event()

        async def take(tx: Transaction, code: str) -> None:
            order = await fetch_own_order_by_code(tx, customer.id, code)
            take_out_of_basket(tx, replace(order, in_basket_of=buyer.id))

        async def first() -> None:
            async with transaction(shop.commands) as tx:
                await take(tx, codes[0])
                await fetch_own_order_by_code(tx, customer.id, codes[1])  # sends what is queued
                first_took.set()
                await asyncio.sleep(0.2)
                await take(tx, codes[1])

        async def second() -> None:
            await first_took.wait()
            async with transaction(shop.commands) as tx:
                await take(tx, codes[1])
                await take(tx, codes[0])

        await asyncio.gather(first(), second())

    shop.call(race)
    assert basket(buyer) == {"PHONE": "3", "CABLE": "3"}


@pytest.mark.parametrize(
    ("name", "value"),
    [("price", "abc"), ("attribute", "nothing"), ("inStock", "perhaps"), ("sort", "odd"), ("query", "w" * 501)],
)
def test_an_error_of_a_filter_leads_to_where_the_filters_are(buyer: Person, name: str, value: str) -> None:
    page = buyer.get(SHOP, params={name: value}).text
    assert f'<a href="#narrow-{name}">' in page
    assert page.count(f'id="narrow-{name}"') == 1
