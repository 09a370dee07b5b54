"""Staff tick products in their list, and change the same of all of them."""

import pytest

from support.backoffice import BackOfficeSite
from support.orders import rows, sell
from support.pages import Person, fields_of, staff_member, text_of
from support.service import Service

FORM = "/product-change"


@pytest.fixture
def manager(office: BackOfficeSite) -> Person:
    """A member of the staff who keeps the catalogue."""
    return staff_member(office.service, office.url, "catalogue")


def stored(shop: Service, *skus: str) -> list[tuple[bool, bool, list[str]]]:
    found = rows(
        shop, "select active, clearance_product, categories from product where sku = any(%s) order by sku", list(skus)
    )
    return [tuple(row) for row in found]


def change(manager: Person, skus: list[str], **changed: str) -> str:
    """Tick products of the list as it is filtered, fill in the form, and return the text of the page behind it."""
    asked = manager.get(FORM, params={"sku": skus, "back": "/product?query=many"})
    assert asked.status_code == 200
    shown = manager.sends(FORM, fields_of(asked) | {"sku": skus, "shown": skus} | changed)
    assert str(shown.url).endswith("/product?query=many")
    return text_of(shown)


def test_ticked_products_are_taken_off_sale_at_once(shop: Service, manager: Person) -> None:
    skus = [sell(shop, f"MANY-OFF-{n}", 10) for n in range(3)]
    page = manager.get("/product?query=many-off").text
    assert all(f'name="sku" value="{sku}"' in page for sku in skus)
    assert "2 products are changed." in change(manager, skus[:2], active="false")
    assert [active for active, *_ in stored(shop, *skus)] == [False, False, True]
    entries = rows(
        shop, "select action, after from audit_entry where subject = any(%s)", [f"product/{sku}" for sku in skus]
    )
    assert entries == [("product.change", {"active": False})] * 2


def test_one_import_has_the_change_and_rolls_it_back(shop: Service, office: BackOfficeSite, manager: Person) -> None:
    skus = [sell(shop, f"MANY-BACK-{n}", 10) for n in range(2)]
    change(manager, skus, active="false", clearance_product="true")
    assert stored(shop, *skus) == [(False, True, [])] * 2
    [(made, changed)] = rows(shop, "select id, changed from import_run order by id desc limit 1")
    assert changed == 2
    administrator = staff_member(office.service, office.url, "administrator")
    assert "not sold, clearance" in text_of(administrator.get(f"/import/{made}"))
    administrator.sends(f"/import/{made}/roll-back", fields_of(administrator.get(f"/import/{made}/roll-back")))
    assert stored(shop, *skus) == [(True, False, [])] * 2


def test_a_category_is_added_and_another_one_left_and_the_others_stay(shop: Service, manager: Person) -> None:
    shop.must_load("categories", [{"key": key, "name": key.title()} for key in ("kept", "left", "new")])
    skus = [
        sell(shop, "MANY-IN-1", 10, categories=["left", "kept"]),
        sell(shop, "MANY-IN-2", 10, categories=["new"]),
        sell(shop, "MANY-IN-3", 10),
    ]
    assert "2 products are changed." in change(manager, skus, add_category="new", remove_category="left")
    assert [categories for *_, categories in stored(shop, *skus)] == [["kept", "new"], ["new"], ["new"]]
    assert "Nothing of these products was different." in change(manager, skus, add_category="new")


def test_a_change_of_nothing_and_of_no_product_is_said(shop: Service, manager: Person) -> None:
    sku = sell(shop, "MANY-NONE", 10)
    fields = fields_of(manager.get(f"{FORM}?sku={sku}"))
    assert "Choose what changes" in text_of(manager.send(FORM, fields))
    unticked = {name: value for name, value in fields.items() if name != "sku"} | {"active": "false"}
    assert "Tick 1 to 50 products" in text_of(manager.send(FORM, unticked))
    assert manager.get(FORM).status_code == 400
    assert manager.get(f"{FORM}?sku=NO-SUCH").status_code == 404
    assert manager.get(FORM, params={"sku": [f"MANY-{n}" for n in range(51)]}).status_code == 400
    assert stored(shop, sku) == [(True, False, [])]


def test_a_category_is_not_to_be_entered_and_left_at_once(shop: Service, manager: Person) -> None:
    shop.must_load("categories", [{"key": "both", "name": "Both"}])
    sku = sell(shop, "MANY-BOTH", 10)
    fields = fields_of(manager.get(f"{FORM}?sku={sku}")) | {"add_category": "both", "remove_category": "both"}
    assert "is the category that they come into" in text_of(manager.send(FORM, fields))
    assert stored(shop, sku) == [(True, False, [])]


def test_a_category_that_is_gone_changes_no_product(shop: Service, manager: Person) -> None:
    sku = sell(shop, "MANY-GONE", 10)
    fields = fields_of(manager.get(f"{FORM}?sku={sku}")) | {"active": "false", "add_category": "no-such"}
    answer = manager.send(FORM, fields)
    assert answer.status_code == 400
    assert "category" in text_of(answer)
    assert stored(shop, sku) == [(True, False, [])]


@pytest.mark.parametrize(
    "back", ["https://elsewhere.example/?x=1", "//elsewhere.example", "\r\nX: y", "?query=a%0D%0Ab"]
)
def test_the_way_back_is_always_the_list(shop: Service, manager: Person, back: str) -> None:
    sku = sell(shop, "MANY-WAY", 10)
    fields = fields_of(manager.get(FORM, params={"sku": sku, "back": back})) | {"back": back, "active": "true"}
    answer = manager.send(FORM, fields)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/product")
    assert "\n" not in answer.headers["location"]


def test_only_the_catalogue_role_has_boxes_to_tick(office: BackOfficeSite) -> None:
    sku = sell(office.service, "MANY-NO", 10)
    support = staff_member(office.service, office.url, "support")
    assert 'name="sku" value=' not in support.get("/product").text
    assert support.send(FORM, {"sku": sku, "active": "false"}).status_code == 403
    assert stored(office.service, sku) == [(True, False, [])]
