"""Staff add and change products on a page, by the rules of imports."""

import re
from typing import Any

import pytest

from support.backoffice import BackOfficeSite
from support.orders import rows, sell
from support.pages import Person, fields_of, staff_member, text_of
from support.service import Service

FORM = "/product-form"


@pytest.fixture
def manager(office: BackOfficeSite) -> Person:
    """A member of the staff who keeps the catalogue; there are attributes of each type."""
    office.service.must_load(
        "attributes",
        [
            {
                "key": "shade",
                "name": "Shade",
                "type": "string",
                "possible_values": [{"value": "Dark"}, {"value": "Light"}],
            },
            {"key": "floors", "name": "Floors", "type": "int"},
            {"key": "lit", "name": "Lit", "type": "boolean"},
        ],
    )
    return staff_member(office.service, office.url, "catalogue")


def filled(person: Person, sku: str = "", **changed: str) -> dict[str, str]:
    """The fields of the form as shown, with changes; `prices` are those of the first list."""
    shown = fields_of(person.get(f"{FORM}?sku={sku}"), where=lambda name: name != "categories")
    return shown | {name.replace("__", "-"): value for name, value in changed.items()}


def place_of(fields: dict[str, str], price_list: str) -> int:
    """The place of a price list in the form."""
    found = next(name for name, value in fields.items() if name.endswith("-price_list") and value == price_list)
    return int(found.split("-")[1])


def priced(fields: dict[str, str], single: str, price_list: str = "default") -> dict[str, str]:
    return fields | {f"prices-{place_of(fields, price_list)}-single_unit_cost": single}


def imports_of(service: Service) -> list[Any]:
    return rows(service, "select kind from import_run order by id desc limit 3")


def test_a_new_product_is_on_sale_at_its_price_with_its_stock(shop: Service, manager: Person) -> None:
    fields = priced(
        filled(
            manager,
            name="A made-up phone",
            manufacturer="acme",
            available="12",
            location="B-02",
        )
        | {"sku": "FORM-1", "attributes-0-key": "colour", "attributes-0-value": "Black"},
        "19.90",
    )
    page = text_of(manager.sends(FORM, fields))
    assert "FORM-1 is added." in page
    shop.refresh()
    product = shop.customer().get("/product/FORM-1").json()
    assert product["name"] == "A made-up phone"
    assert product["single_unit_cost"] == 19.9
    assert product["availability"]["available"] == 12
    assert "B-02" in page


def test_a_change_keeps_what_the_form_has_not_changed(shop: Service, manager: Person) -> None:
    sku = sell(
        shop,
        "FORM-2",
        30,
        available=4,
        description="Old text",
        attributes={"colour": "Red", "ports": "4"},
        images=[{"is_primary": True, "url": "https://images.example/a.jpg"}],
        documents=[{"name": "Data sheet", "url": "https://files.example/a.pdf"}],
        related_products=["PHONE"],
        weight_kg=1.5,
    )
    before = rows(shop, "select to_jsonb(p) - 'name' - 'changed_at' from product p where sku = %s", sku)
    answer = manager.send(FORM, filled(manager, sku, name="New name"))
    assert answer.status_code == 303, text_of(answer)
    assert rows(shop, "select to_jsonb(p) - 'name' - 'changed_at' from product p where sku = %s", sku) == before
    assert rows(shop, "select name from product where sku = %s", sku) == [("New name",)]
    [(action, old, new)] = rows(
        shop, "select action, before, after from audit_entry where subject = %s", f"product/{sku}"
    )
    assert action == "product.change"
    assert (list(old), new) == (["name"], {"name": "New name"})


def test_a_form_without_changes_says_so_and_imports_no_price(shop: Service, manager: Person) -> None:
    sku = sell(shop, "FORM-3", 30)
    assert f"Nothing of {sku} was different." in text_of(manager.sends(FORM, filled(manager, sku)))
    assert imports_of(shop)[0] == ("products",)


def test_a_price_below_its_purchase_cost_wants_a_confirmation(shop: Service, manager: Person) -> None:
    sku = sell(shop, "FORM-4", 30, purchase_cost=20)
    fields = priced(filled(manager, sku), "3.00")
    answer = manager.send(FORM, fields)
    assert answer.status_code == 409
    assert "£3.00 on the price list default is below its purchase cost of £20.00" in text_of(answer)
    assert "Use these prices all the same" in text_of(answer)
    assert rows(
        shop, "select p.single_unit_cost::text from price p join product on id = product_id where sku = %s", sku
    ) == [("30.00",)]
    assert manager.send(FORM, fields | {"force": "true"}).status_code == 303


def test_a_new_product_below_its_purchase_cost_can_be_confirmed(shop: Service, manager: Person) -> None:
    fields = filled(manager, name="Loss leader", manufacturer="acme", purchase_cost="15") | {"sku": "FORM-11"}
    answer = manager.send(FORM, priced(fields, "12.50"))
    assert answer.status_code == 409
    again = fields_of(answer, where=lambda name: name != "categories")
    again = again | {"force": ""}
    answer = manager.send(FORM, again)  # without the tick
    assert answer.status_code == 409
    assert 'name="force" type="checkbox"' in answer.text
    assert manager.send(FORM, again | {"force": "true"}).status_code == 303
    assert rows(shop, "select count(*) from product where sku = 'FORM-11'") == [(1,)]


def test_an_ean_of_another_product_is_rejected(shop: Service, manager: Person) -> None:
    taken = sell(shop, "FORM-12", 30, ean="4006381333931")
    sku = sell(shop, "FORM-13", 30)
    answer = manager.send(FORM, filled(manager, sku, ean="4006381333931"))
    assert answer.status_code == 400
    assert f"EAN is that of {taken}" in text_of(answer)
    manager.sends(FORM, filled(manager, taken, name="Renamed"))


def test_a_mistyped_ean_is_rejected_and_the_stored_one_stays(shop: Service, manager: Person) -> None:
    sku = sell(shop, "FORM-14", 30, ean="5012345678900")
    answer = manager.send(FORM, filled(manager, sku, ean="5012345678901"))
    assert answer.status_code == 400
    assert "EAN '5012345678901' is not an EAN, because its last digit, the check digit, does not fit" in text_of(answer)
    assert rows(shop, "select ean from product where sku = %s", sku) == [("5012345678900",)]


def test_a_change_of_prices_names_how_many_customers_it_concerns(shop: Service, manager: Person) -> None:
    sku = sell(shop, "FORM-5", 30)
    shop.customer()
    page = text_of(manager.sends(FORM, priced(filled(manager, sku), "29.00")))
    assert f"{sku} is changed. The prices of" in page
    fields = filled(manager, sku)
    fields[f"prices-{place_of(fields, 'default')}-five_plus_unit_cost"] = "290"
    assert "change. Note: £290.00 is more than £29.00, the price of fewer units." in text_of(
        manager.sends(FORM, fields)
    )


def test_someone_elses_change_is_not_overwritten(shop: Service, manager: Person) -> None:
    sku = sell(shop, "FORM-6", 30)
    fields = filled(manager, sku, name="Mine")
    shop.must_load("products", [{"sku": sku, "name": "Theirs"}])
    answer = manager.send(FORM, fields)
    assert answer.status_code == 409
    assert "Someone else has changed the product" in text_of(answer)
    assert rows(shop, "select name from product where sku = %s", sku) == [("Theirs",)]


def test_a_changed_price_is_in_the_products_history(shop: Service, manager: Person) -> None:
    sku = sell(shop, "FORM-10", 30)
    page = text_of(manager.sends(FORM, priced(filled(manager, sku), "29.00")))
    assert "changed the price, on default from" in page
    query = "select before, after from audit_entry where action = 'price.change' and subject = %s"
    assert rows(shop, query, f"product/{sku}") == [({"default": [30.0, None, None]}, {"default": [29.0, None, None]})]


def test_a_price_that_was_imported_meanwhile_is_not_overwritten(shop: Service, manager: Person) -> None:
    sku = sell(shop, "FORM-7", 30)
    fields = filled(manager, sku, name="Mine")
    shop.must_load("price-list", [{"price_list": "default", "sku": sku, "single_unit_cost": 35}])
    answer = manager.send(FORM, fields)
    assert answer.status_code == 409
    assert "its prices since they were shown" in text_of(answer)
    assert rows(shop, "select single_unit_cost from price join product on id = product_id where sku = %s", sku) == [
        (35,)
    ]


def test_prices_stay_with_their_list_when_a_list_is_added_meanwhile(shop: Service, manager: Person) -> None:
    sku = sell(shop, "FORM-8", 30)
    shop.must_load("price-list", [{"price_list": "middle", "sku": sku, "single_unit_cost": 20}])
    fields = priced(filled(manager, sku, name=""), "21", "middle")
    shop.must_load("price-list", [{"price_list": "another", "sku": "PHONE", "single_unit_cost": 20}])
    redrawn = fields_of(manager.send(FORM, fields))
    number = place_of(redrawn, "middle")
    assert redrawn[f"prices-{number}-single_unit_cost"] == "21"
    assert redrawn[f"prices-{place_of(redrawn, 'another')}-single_unit_cost"] == ""


def test_related_products_may_have_spaces_and_commas_in_their_skus(shop: Service, manager: Person) -> None:
    sku, others = sell(shop, "FORM-9", 30), [sell(shop, "FORM 9, white", 30), sell(shop, "FORM-9B", 30)]
    manager.sends(FORM, filled(manager, sku, related_products="\n".join(others)))
    assert filled(manager, sku)["related_products"].split("\n") == others


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"sku": "PHONE"}, "SKU PHONE exists already"),
        ({"manufacturer": "nobody"}, "nobody"),
        ({"name": ""}, "Name is required"),
        ({"attributes-0-key": "floors", "attributes-0-value": "two"}, "Floors 'two' is not a whole number"),
        (
            {"attributes-0-key": "shade", "attributes-0-value": "another value", "attributes-0-other": ""},
            "Shade, another value is required",
        ),
        ({"add_attribute": "floors"}, "Add an attribute has no value yet"),
        ({"documents": "https://files.example/a.pdf"}, "is not a name and an address"),
        ({"images": "javascript:alert(1)"}, "javascript:alert(1)"),
        ({"related_products": "NO-SUCH-SKU"}, "NO-SUCH-SKU"),
        ({"weight_kg": "heavy"}, "Weight in kg"),
        ({"five": "5"}, "default, 1 and more is needed with the others"),
        ({"available": "-1"}, "Units in stock"),
    ],
)
def test_what_is_wrong_is_said_by_the_labels_of_the_page(
    shop: Service, manager: Person, changed: dict[str, str], said: str
) -> None:
    fields = filled(manager) | {"sku": "FORM-BAD", "name": "Bad", "manufacturer": "acme"} | changed
    if five := fields.pop("five", ""):
        fields[f"prices-{place_of(fields, 'default')}-five_plus_unit_cost"] = five
    answer = manager.send(FORM, fields)
    assert answer.status_code in {400, 409}
    assert said.lower() in text_of(answer).lower()
    assert rows(shop, "select from product where sku = 'FORM-BAD'") == []


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    ("changed", "part"),
    [
        ({"attributes-0-key": "floors", "attributes-0-value": "two"}, "Attributes"),
        ({"images": "javascript:alert(1)"}, "Pictures"),
        ({"documents": "Sheet javascript:alert(1)"}, "Links and related products"),
        ({"weight_kg": "heavy"}, "Parcel"),
        ({"name": ""}, None),
    ],
)
def test_a_part_that_phones_fold_away_is_open_where_a_field_in_it_is_wrong(
    shop: Service, manager: Person, changed: dict[str, str], part: str | None
) -> None:
    answer = manager.send(FORM, filled(manager, sell(shop, "FORM-PARTS", 30)) | changed)
    assert answer.status_code == 400
    parts = re.findall(r'<details class="panel folds"( open)?>\s*<summary>([^<]+?) ?<', answer.text)
    assert len(parts) == 5
    assert [name for is_open, name in parts if is_open] == ([part] if part else [])


def test_a_price_is_ended_after_a_confirmation_and_comes_back_with_a_roll_back(
    shop: Service, office: BackOfficeSite, manager: Person
) -> None:
    sku = sell(shop, "FORM-7", 30)
    costs = "select single_unit_cost::integer from price join product on id = product_id where sku = %s"
    fields = priced(filled(manager, sku), "")
    answer = manager.send(FORM, fields)
    assert answer.status_code == 409
    assert "£30.00 on the price list default ends" in text_of(answer)
    assert "Use these prices all the same" in text_of(answer)
    page = text_of(manager.sends(FORM, fields | {"force": "true"}))
    assert "on default from £30.00 to none" in page
    assert rows(shop, costs, sku) == []
    [(made,)] = rows(shop, "select max(id) from import_run where kind = 'price-list'")
    administrator = staff_member(office.service, office.url, "administrator")
    administrator.sends(f"/import/{made}/roll-back", fields_of(administrator.get(f"/import/{made}/roll-back")))
    assert rows(shop, costs, sku) == [(30,)]


def test_a_form_like_another_product_has_its_fields_without_sku_and_ean(shop: Service, manager: Person) -> None:
    sku = sell(shop, "FORM-8", 30, ean="5012345678900", description="Same text")
    fields = fields_of(manager.get(f"{FORM}?like={sku}"), where=lambda name: name != "categories")
    assert (fields["sku"], fields["ean"], fields["description"]) == ("", "", "Same text")
    assert "seen" not in fields or not fields["seen"]


def test_only_the_catalogue_role_may_save(office: BackOfficeSite) -> None:
    for role in ("support", "warehouse", "finance"):
        person = staff_member(office.service, office.url, role)
        assert person.get(FORM).status_code == 403
        assert person.send(FORM, {"sku": "FORM-NO", "name": "No", "manufacturer": "acme"}).status_code == 403
    assert rows(office.service, "select from product where sku = 'FORM-NO'") == []


def test_each_attribute_has_a_field_of_its_type(shop: Service, manager: Person) -> None:
    attributes = {"shade": "Sand", "floors": "1", "lit": "true", "Never heard of": "so"}
    sku = sell(shop, "TYPED", attributes=attributes)
    page = manager.get(f"{FORM}?sku={sku}").text
    place = {key: re.search(rf'name="attributes-(\d)-key" value="{key}"', page) for key in attributes}
    field = {key: f"attributes-{found[1]}-value" for key, found in place.items() if found}

    def choices(key: str) -> list[tuple[str, str]]:
        shown = page.partition(f'name="{field[key]}"')[2].partition("</select>")[0]
        return re.findall(r'<option value="([^"]*)"(?: selected)?>([^<]*)<', shown)

    assert choices("lit") == [("", "None"), ("true", "Yes"), ("false", "No")]
    assert [value for value, _ in choices("shade")] == ["", "Dark", "Light", "Sand", "another value"]
    assert re.search(rf'<input id="form-{field["floors"]}"[^>]*inputmode="numeric"', page)
    assert re.search(rf'<input id="form-{field["Never heard of"]}"[^>]*value="so"', page)
    seen = text_of(manager.get(f"{FORM}?sku={sku}"))
    assert "Attributes 4: Floors, Lit, Never heard of, Shade" in seen

    changed = {
        field["shade"]: "another value",
        field["shade"].replace("value", "other"): "Teal",
        field["floors"]: "1,200",
        field["lit"]: "",
    }
    manager.sends(FORM, filled(manager, sku) | changed)
    stored = "select attributes from product where sku = %s"
    assert rows(shop, stored, sku) == [({"shade": "Teal", "floors": "1200", "Never heard of": "so"},)]


def test_a_value_that_is_stored_already_may_be_none_of_its_type(shop: Service, manager: Person) -> None:
    sku = sell(shop, "UNTYPED", attributes={"floors": "a few", "lit": "maybe"})
    manager.sends(FORM, filled(manager, sku, name="Another name"))
    assert rows(shop, "select name, attributes from product where sku = %s", sku) == [
        ("Another name", {"floors": "a few", "lit": "maybe"})
    ]


def test_an_attribute_that_a_product_lacks_is_added_without_scripts(shop: Service, manager: Person) -> None:
    sku = sell(shop, "LACKS", attributes={"lit": "true"})
    fields = filled(manager, sku, name="A name that is not saved yet")
    answer = manager.send(FORM, fields | {"add_attribute": "floors", "preview": "attribute"})
    assert answer.status_code == 200
    assert re.search(r'<input id="form-attributes-1-value"[^>]* autofocus', answer.text)
    shown = fields_of(answer, where=lambda name: name != "categories")
    assert (shown["name"], shown["attributes-1-key"]) == ("A name that is not saved yet", "floors")
    assert '<option value="floors">' not in answer.text
    assert rows(shop, "select attributes from product where sku = %s", sku) == [({"lit": "true"},)]
    manager.sends(FORM, shown | {"attributes-1-value": "3"})
    assert rows(shop, "select attributes from product where sku = %s", sku) == [({"lit": "true", "floors": "3"},)]


@pytest.mark.parametrize("sent", [{"preview": "attribute", "add_attribute": ""}, {"name": ""}])
def test_values_outside_the_choices_stay_in_a_form_like_another_product(
    shop: Service, manager: Person, sent: dict[str, str]
) -> None:
    attributes = {"shade": "Sand", "floors": "a few", "lit": "maybe"}
    sku = sell(shop, "PATTERN", attributes=attributes)
    copy = f"COPY-{len(sent)}"
    fields = fields_of(manager.get(f"{FORM}?like={sku}"), where=lambda name: name != "categories")
    fields |= {"sku": copy, "name": "Copy", "manufacturer": "acme"}
    again = fields_of(manager.send(FORM, fields | sent), where=lambda name: name != "categories")
    manager.sends(FORM, again | {"name": "Copy"})
    assert rows(shop, "select attributes from product where sku = %s", copy) == [(attributes,)]


@pytest.mark.parametrize(
    "attributes",
    [
        {"Never heard of": "another value", "shade": "another value"},
        {"floors": "a few ", "Never heard of": "two\nlines"},
        {"k" * 250: "long"},
    ],
)
def test_attributes_that_nobody_touches_stay_as_they_are(
    shop: Service, manager: Person, attributes: dict[str, str]
) -> None:
    sku = sell(shop, "UNTOUCHED", attributes=attributes)
    fields = {name: value.replace("\n", "") for name, value in filled(manager, sku, name="Another name").items()}
    manager.sends(FORM, fields)
    assert rows(shop, "select name, attributes from product where sku = %s", sku) == [("Another name", attributes)]
