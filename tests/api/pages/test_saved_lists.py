"""Lists that users keep to order from: their own, the company's, and what was bought."""

import re

import httpx2
import pytest

from support.orders import buy, rows, sell
from support.pages import Person, customer_user, fields_of, text_of
from support.service import Customer, Service

LISTS, FORM = "/account/list", "/account/new-order"


@pytest.fixture
def colleague(shop: Service, customer: Customer) -> Person:
    return customer_user(shop, customer.id)


@pytest.fixture
def stranger(shop: Service) -> Person:
    return customer_user(shop, shop.customer().id)


def create(person: Person, lines: str = "PHONE 2\nCABLE 5", *, name: str = "Site kit", shared: bool = False) -> str:
    """Make a list; its path."""
    fields = {"name": name, "lines": lines} | ({"shared": "true"} if shared else {})
    response = person.send(f"{LISTS}/new", fields)
    assert response.status_code == 303, response.text
    return str(response.headers["Location"])


def typed_lines(page: httpx2.Response) -> list[str]:
    """The lines in the form of a list."""
    found = re.search(r'<textarea[^>]*name="lines"[^>]*>\n(.*?)</textarea>', page.text, re.DOTALL)
    assert found is not None
    return found[1].splitlines()


def basket(person: Person) -> dict[str, str]:
    fields = fields_of(person.get(FORM), where=lambda name: name.startswith("items-"))
    return {fields[f"items-{n}-sku"]: fields[f"items-{n}-quantity"] for n in range(len(fields) // 3)}


def test_a_list_shows_its_products_at_todays_prices(buyer: Person) -> None:
    said = text_of(buyer.get(create(buyer, "PHONE 10\nCABLE 5")))
    for text in ("Site kit", "Your own list", "Product PHONE", "£40.00", "2 products"):
        assert text in said, text
    assert "Site kit" in text_of(buyer.get(LISTS))


def test_a_list_that_is_stored_as_it_is_leaves_no_audit_entry(shop: Service, buyer: Person) -> None:
    path = create(buyer, "PHONE 10\nCABLE 5", name="Unchanged")
    number, changes = path.rpartition("/")[2], []
    for lines in ("PHONE 10\nCABLE 5", "CABLE 5\nPHONE 10", "CABLE 5\nPHONE 10"):
        buyer.sends(f"{path}/change", {"name": "Unchanged", "lines": lines})
        entries = "select count(*) from audit_entry where action = 'saved_list.change' and after ->> 'id' = %s"
        [(count,)] = rows(shop, entries, number)
        changes.append(count)
    assert changes == [0, 1, 1]


def test_a_product_that_is_put_into_a_list_is_audited_once(shop: Service, buyer: Person) -> None:
    number = create(buyer, "PHONE 10", name="Added to").rpartition("/")[2]
    for _ in range(2):
        buyer.sends(f"{LISTS}/add", {"sku": "CABLE", "quantity": "4", "list": number})
    entries = "select count(*) from audit_entry where action = 'saved_list.change' and after ->> 'id' = %s"
    assert rows(shop, entries, number) == [(1,)]


def test_all_of_a_list_goes_into_the_basket(buyer: Person) -> None:
    path = create(buyer)
    assert "2 products added to the basket." in text_of(buyer.sends(f"{path}/basket"))
    buyer.sends(f"{path}/basket")
    assert basket(buyer) == {"PHONE": "4", "CABLE": "10"}
    too_many = buyer.send(f"{create(buyer, 'PHONE 100000')}/basket")
    assert too_many.status_code == 400
    assert "would make more than 100,000 units of PHONE in the basket" in text_of(too_many)
    assert basket(buyer) == {"PHONE": "4", "CABLE": "10"}


def test_what_is_no_longer_sold_does_not_hold_up_the_rest(shop: Service, buyer: Person) -> None:
    sku = sell(shop, "LISTED-GONE")
    path = create(buyer, f"{sku} 1\nPHONE 3")
    shop.must_load("products", [{"sku": sku, "active": False}])
    assert f"No longer sold to you: {sku}" in text_of(buyer.get(path))
    assert "1 product that we no longer sell is left out" in text_of(buyer.sends(f"{path}/basket"))
    assert basket(buyer) == {"PHONE": "3"}
    only = create(buyer, "CABLE 1")
    buyer.send(f"{only}/change", {"name": "Empty", "lines": ""})
    empty = buyer.send(f"{only}/basket")
    assert empty.status_code == 409
    assert "nothing in it that you can buy" in text_of(empty)


def test_own_lists_are_seen_by_their_user_alone_and_shared_ones_by_all_of_the_company(
    buyer: Person, colleague: Person, stranger: Person
) -> None:
    own, shared = create(buyer, name="Mine alone"), create(buyer, name="Ours", shared=True)
    assert "Ours" in text_of(colleague.get(LISTS))
    assert "Mine alone" not in text_of(colleague.get(LISTS))
    assert "For all users of your company" in text_of(colleague.get(shared))
    for person, path in ((colleague, own), (stranger, own), (stranger, shared)):
        assert person.get(path).status_code == 404
        for step in ("change", "delete"):
            assert person.get(f"{path}/{step}").status_code == 404
            assert person.send(f"{path}/{step}", {"name": "x", "lines": ""}).status_code == 404
        assert person.send(f"{path}/basket").status_code == 404
        number = path.rpartition("/")[2]
        added = person.send(f"{LISTS}/add", {"sku": "PHONE", "quantity": "1", "list": number})
        assert added.status_code == 404
    assert "Ours" not in text_of(stranger.get(LISTS))


def test_a_list_is_changed_and_deleted(shop: Service, customer: Customer, buyer: Person, colleague: Person) -> None:
    path = create(buyer, shared=True)
    form = colleague.get(f"{path}/change")
    assert fields_of(form)["name"] == "Site kit"
    assert typed_lines(form) == ["PHONE\t2", "CABLE\t5"]
    changed = {"name": "Van stock", "lines": "switch,1\nphone,3", "shared": "true"}
    assert "Van stock" in text_of(colleague.sends(f"{path}/change", changed))
    assert typed_lines(buyer.get(f"{path}/change")) == ["SWITCH\t1", "PHONE\t3"]
    assert "Delete Van stock?" in text_of(buyer.get(f"{path}/delete"))
    buyer.sends(f"{path}/delete")
    assert buyer.get(path).status_code == 404
    audited = "select action from audit_entry where subject = %s and action like 'saved_list.%%' order by id"
    found = [action for (action,) in rows(shop, audited, f"customer/{customer.id}")]
    assert found == ["saved_list.create", "saved_list.change", "saved_list.delete"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "", "lines": "PHONE 1"}, "Name"),
        ({"name": "\u00a0 ", "lines": "PHONE 1"}, "Name"),
        ({"name": "x" * 101, "lines": "PHONE 1"}, "Name"),
        ({"name": "Ok", "lines": "PHNE 1"}, "line 1 is wrong: product 'PHNE' does not exist; did you mean PHONE?"),
        ({"name": "Ok", "lines": "PHONE 0"}, "must have 1 to 100,000 units"),
        ({"name": "Ok", "lines": "PHONE 60000\nphone 60000"}, "at most 100,000 units of PHONE together"),
        ({"name": "Ok", "lines": "PHONE many"}, "line 1 'PHONE many' must end with a whole number of units"),
    ],
)
def test_what_is_wrong_with_a_list_is_said_and_nothing_is_saved(
    buyer: Person, fields: dict[str, str], message: str
) -> None:
    page = buyer.send(f"{LISTS}/new", fields)
    assert page.status_code == 400
    assert message in text_of(page)
    assert "No lists yet." in text_of(buyer.get(LISTS))


def test_a_list_begins_with_the_basket_or_an_order(customer: Customer, buyer: Person, stranger: Person) -> None:
    buyer.send("/account/basket/add", {"sku": "CABLE", "quantity": "7"})
    assert typed_lines(buyer.get(f"{LISTS}/new?source=basket")) == ["CABLE\t7"]
    order = buy(customer, [("PHONE", 2), ("SWITCH", 1)])
    for name in (order["order_reference"], order["confirmation_code"]):
        assert typed_lines(buyer.get(f"{LISTS}/new", params={"source": name})) == ["PHONE\t2", "SWITCH\t1"]
        assert stranger.get(f"{LISTS}/new", params={"source": name}).status_code == 404


def test_a_product_is_put_into_a_list_from_its_page(buyer: Person) -> None:
    path = create(buyer, "CABLE 1")
    number = path.rpartition("/")[2]
    form = buyer.get(f"{LISTS}/add?sku=PHONE")
    assert "Site kit" in form.text
    assert "PHONE" in text_of(buyer.sends(f"{LISTS}/add", {"sku": "PHONE", "quantity": "3", "list": number}))
    assert typed_lines(buyer.get(f"{path}/change")) == ["CABLE\t1", "PHONE\t3"]
    new = buyer.sends(f"{LISTS}/add", {"sku": "PHONE", "quantity": "1", "list": "", "name": "Another"})
    assert "Another" in text_of(new)
    nameless = buyer.send(f"{LISTS}/add", {"sku": "PHONE", "quantity": "1", "list": ""})
    assert nameless.status_code == 400
    long = buyer.send(f"{LISTS}/add", {"sku": "PHONE", "quantity": "1", "list": "", "name": "n" * 101})
    assert long.status_code == 400
    assert "form-name-error" in long.text
    assert buyer.send(f"{LISTS}/add", {"sku": "NOTHING", "quantity": "1", "list": number}).status_code == 400


def test_usual_items_are_what_the_company_ordered_most_often(
    shop: Service, customer: Customer, buyer: Person, stranger: Person
) -> None:
    rare, often = sell(shop, "RARELY", available=99), sell(shop, "OFTEN", available=99)
    for number, quantity in enumerate((2, 9, 4)):
        buy(customer, [(often, quantity), *([(rare, 1)] if not number else [])])
    page = buyer.get(f"{LISTS}/usual")
    assert page.text.index(often) < page.text.index(rare)
    assert fields_of(page, where=lambda name: name == "quantity")
    buyer.sends(f"{LISTS}/usual/basket")
    assert basket(buyer) == {often: "4", rare: "1"}
    assert "No orders in the last year" in text_of(stranger.get(f"{LISTS}/usual"))
    assert stranger.send(f"{LISTS}/usual/basket").status_code == 409


def test_the_start_page_has_the_usual_items_to_order_again(
    shop: Service, customer: Customer, buyer: Person, stranger: Person
) -> None:
    often = sell(shop, "AGAIN", available=99)
    gone = [sell(shop, f"NO-MORE-{number}", available=99) for number in range(3)]
    for number, quantity in enumerate((2, 7)):
        buy(customer, [*[(sku, 1) for sku in gone], *([(often, quantity)] if number else [])])
    shop.must_load("products", [{"sku": sku, "active": False} for sku in gone])
    home = buyer.get("/account")
    assert "Order again" in text_of(home)
    [form] = re.findall(rf'<form id="add-{often}".*?</form>', home.text, re.DOTALL)
    assert 'value="7"' in form
    assert "Add NO-MORE" not in home.text
    added = buyer.send("/account/basket/add", {"sku": often, "quantity": "7", "back": "/account"})
    assert added.headers["Location"] == "/account"
    assert basket(buyer) == {often: "7"}
    assert "Order again" not in text_of(stranger.get("/account"))
    assert "Order again" not in text_of(customer_user(shop, customer.id, "accounts").get("/account"))


def test_there_is_a_limit_to_lists_and_their_lines(shop: Service, customer: Customer, buyer: Person) -> None:
    with_many = (
        "insert into saved_list (customer_id, name, created_at) select %s, 'L', now() from generate_series(1, 200)"
    )
    rows(shop, f"{with_many} returning id", customer.id)
    full = buyer.send(f"{LISTS}/new", {"name": "One more", "lines": ""})
    assert full.status_code == 409
    assert "200 lists already" in text_of(full)


def test_only_owners_and_buyers_have_lists(shop: Service, customer: Customer) -> None:
    person = customer_user(shop, customer.id, "accounts")
    assert person.get(LISTS).status_code == 403
    assert person.send(f"{LISTS}/new", {"name": "x", "lines": ""}).status_code == 403


@pytest.mark.parametrize("number", ["0", "-1", "x", "9" * 30, "1.5"])
def test_a_list_that_is_no_number_does_not_exist(buyer: Person, number: str) -> None:
    assert buyer.get(f"{LISTS}/{number}").status_code == 404
