"""The staff's pages of products: the list, one product, why a price is what it is, and adjusting its stock."""

import re
from urllib.parse import quote

import pytest

from support.backoffice import BackOfficeSite
from support.orders import buy, rows, sell
from support.pages import Person, fields_of, staff_member, text_of
from support.service import Service
from support.shop import NEXT_DAY

ADJUST = "/stock-adjustment"


@pytest.fixture(scope="module")
def warehouse(office: BackOfficeSite) -> Person:
    return staff_member(office.service, office.url, "warehouse")


def test_the_history_tells_prices_and_costs_to_those_who_may_read_them(
    office: BackOfficeSite, sam: Person, warehouse: Person
) -> None:
    sku = sell(office.service, "TOLD-PRICE", 10, purchase_cost=4)
    catalogue = staff_member(office.service, office.url, "catalogue")
    fields = fields_of(catalogue.get(f"/product-form?sku={sku}"))
    fields |= {"purchase_cost": "4.56", next(n for n in fields if n.endswith("single_unit_cost")): "11.23"}
    assert catalogue.send("/product-form", fields).status_code == 303
    changed = warehouse.send(ADJUST, {"sku": sku, "set": "3", "reason": "Found more"})
    assert changed.status_code == 303, text_of(changed)
    seen, unseen = text_of(sam.get(f"/product/{sku}")), text_of(warehouse.get(f"/product/{sku}"))
    assert ("£4.56" in seen, "£11.23" in seen, "Found more" in seen) == (True, True, True)
    assert ("£4.56" in unseen, "£11.23" in unseen, "Found more" in unseen) == (False, False, True)


def test_products_are_found_by_sku_name_and_ean(office: BackOfficeSite, sam: Person) -> None:
    sell(office.service, "FIND-ME", available=7, name="A <b>bold</b> lamp", ean="5000000000012")
    for query in ("find-m", "BOLD", "5000000000012"):
        page = sam.get("/product", params={"query": query})
        assert "FIND-ME" in page.text
        assert "A &lt;b&gt;bold&lt;/b&gt; lamp" in page.text
        assert "SWITCH" not in page.text
    assert "No product matches" in text_of(sam.get("/product?query=no-such"))
    file = sam.get("/product?query=find-me&format=csv").text.splitlines()
    assert file[1].startswith("FIND-ME,A <b>bold</b> lamp,acme,5000000000012,yes,10.00,,,7,0,0")


def test_pages_of_the_list_have_every_product_once(office: BackOfficeSite, sam: Person) -> None:
    made = [{"sku": f"MANY-{n:03}", "name": "One of many", "manufacturer": "acme", "weight_kg": 1} for n in range(120)]
    office.service.must_load("products", made)
    seen: list[str] = []
    address = "/product?query=many-"
    while address:
        page = sam.get(address).text
        seen += [part.split('"')[0] for part in page.split('<a href="/product/')[1:]]
        following = page.split('rel="next" href="')[1:]
        address = following[0].split('"')[0].replace("&amp;", "&") if following else ""
    assert seen == [row["sku"] for row in made]
    assert sam.get("/product?after=nonsense").status_code == 400


def test_products_are_filtered_by_manufacturer_and_by_what_they_lack(office: BackOfficeSite, sam: Person) -> None:
    service, customer = office.service, office.service.customer()
    made = [
        {"sku": f"SIFT-{name}", "name": "Sifted", "manufacturer": "acme", "weight_kg": 1, "active": active}
        for name, active in (("BARE", True), ("GONE", False))
    ]
    sell(service, "SIFT-FULL", 20, available=2)
    whole = {
        "sku": "SIFT-FULL",
        "name": "Sifted",
        "manufacturer": "acme",
        "weight_kg": 1,
        "ean": "5000000000012",
        "description": "A description.",
        "images": [{"is_primary": True, "url": "https://pictures.example/full.jpg"}],
        "purchase_cost": 20.01,
    }
    service.must_load("products", [*made, whole])
    buy(customer, [(sell(service, "SIFT-OUT", 20), 1)], NEXT_DAY)

    def found(**wanted: str) -> list[str]:
        rows = sam.get("/product", params={"query": "sift-", "format": "csv", **wanted}).text.splitlines()[1:]
        return [row.split(",")[0] for row in rows]

    assert found(show="sold") == ["SIFT-BARE", "SIFT-FULL", "SIFT-OUT"]
    assert found(show="not_sold") == ["SIFT-GONE"]
    assert found(show="out_of_stock") == ["SIFT-BARE", "SIFT-OUT"]
    assert found(show="back_ordered") == ["SIFT-OUT"]
    assert found(show="without_price", manufacturer="ACME") == ["SIFT-BARE"]
    service.must_load("categories", [{"key": "sieves", "name": "Sieves & more"}])
    page = sam.get("/product", params={"query": "sift-"}).text
    assert '<option value="Acme"></option>' in page.partition('<datalist id="manufacturers">')[2]
    assert '<option value="sieves">Sieves &amp; more</option>' in page.partition('name="category"')[2]
    assert "<small>Acme" in page
    for lack in ("without_picture", "without_description", "without_ean"):
        assert found(show=lack) == ["SIFT-BARE", "SIFT-OUT"]
    assert found(show="below_cost") == ["SIFT-FULL"]
    walt = staff_member(service, office.url, "warehouse")
    assert walt.get("/product?show=below_cost").status_code == 403
    assert "below_cost" not in walt.get("/product").text
    assert found(manufacturer="other") == []
    without_words = sam.get("/product?show=without_price&format=csv").text
    assert "SIFT-BARE" in without_words
    assert "SIFT-FULL" not in without_words
    assert sam.get("/product?show=nonsense").status_code == 400


def test_the_filter_of_products_tells_categories_of_one_name_apart_and_shows_a_named_one_once(
    office: BackOfficeSite, sam: Person
) -> None:
    children = [[{"key": f"{key}-spare", "name": "Spare & part"}] for key in ("ovens", "hobs")]
    ovens = {"key": "ovens", "name": "Ovens", "children": children[0]}
    office.service.must_load("categories", [ovens, {"key": "hobs", "name": "Hobs", "children": children[1]}])

    def choices(chosen: str) -> str:
        page = sam.get("/product", params={"category": chosen}).text
        return page.partition('<select id="form-category"')[2].partition("</select>")[0]

    by_key = choices("hobs-spare")
    assert '<option value="hobs-spare" selected>Hobs: Spare &amp; part</option>' in by_key
    assert '<option value="ovens-spare">Ovens: Spare &amp; part</option>' in by_key
    for by_name in ("OVENS", " Ovens", "Ovens"):
        said = choices(by_name)
        assert f'<option value="{by_name}" selected>Ovens</option>' in said
        assert said.count(">Ovens</option>") == said.count(" selected") == 1
    several = choices("Spare & part")
    assert '<option value="Spare &amp; part" selected>All named Spare &amp; part</option>' in several
    assert several.count("Spare &amp; part</option>") == 3
    assert '<option value="Nothing" selected>Nothing</option>' in choices("Nothing")


def test_categories_and_manufacturers_lead_to_as_many_products_as_they_say(office: BackOfficeSite, sam: Person) -> None:
    service = office.service
    service.must_load(
        "categories", [{"key": "rigs", "name": "Rigs", "children": [{"key": "small-rigs", "name": "Small & light"}]}]
    )
    service.must_load("manufacturers", [{"key": "rigger", "name": "Rigger & Sons"}, {"key": "idle", "name": "Idle"}])
    for number, category in enumerate(("rigs", "small-rigs", "small-rigs")):
        sell(service, f"RIG-{number}", manufacturer="rigger", categories=[category])
    service.must_load("products", [{"sku": "RIG-2", "active": False}])
    office.refresh()

    def listed(kind: str) -> dict[str, list[str]]:
        lines = [row.split(",") for row in sam.get(f"/{kind}?format=csv").text.splitlines()]
        assert lines[0] == ["key", "name", "sold", "not_sold"]
        for key, _, sold, not_sold in lines[1:]:
            found = sam.get("/product", params={kind: key, "format": "csv"}).text.splitlines()[1:]
            assert len(found) == int(sold) + int(not_sold), key
        return {key: others for key, *others in lines[1:]}

    categories, manufacturers = listed("category"), listed("manufacturer")
    assert categories["rigs"] == ["Rigs", "2", "1"]
    assert categories["small-rigs"] == ["Rigs: Small & light", "1", "1"]
    assert (manufacturers["rigger"], manufacturers["idle"]) == (["Rigger & Sons", "2", "1"], ["Idle", "0", "0"])
    assert 'href="/product?manufacturer=rigger">Rigger &amp; Sons</a>' in sam.get("/manufacturer").text
    assert 'href="/category"' in sam.get("/product").text


def test_the_warehouse_sees_first_which_orders_wait_for_a_product_and_books_its_deliveries_in(
    office: BackOfficeSite,
) -> None:
    service = office.service
    sku = sell(service, "LONGED-FOR", description="Much longed for.")
    buy(service.customer(), [(sku, 2)])
    service.must_load("incoming", [{"sku": sku, "incoming": 8, "expected_on": "2026-07-01"}])
    office.refresh()
    for role, is_first in (("warehouse", True), ("support", False)):
        page = staff_member(service, office.url, role).get(f"/product/{sku}").text
        assert (page.index("Orders that wait for stock") < page.index("Much longed for.")) is is_first
        assert (f'href="/goods-in?query={sku}"' in page) is is_first


def test_a_list_of_categories_has_one_file_which_can_be_imported_by_those_who_may(office: BackOfficeSite) -> None:
    office.service.must_load("categories", [{"key": "filed", "name": "Filed"}])
    office.refresh()
    people = [staff_member(office.service, office.url, role) for role in ("catalogue", "warehouse")]
    for kind, file in (("category", "categories"), ("manufacturer", "manufacturers")):
        found = [re.findall(r'href="([^"]+)" download', each.get(f"/{kind}").text) for each in people]
        assert found == [[f"/import/file/{file}"], [f"/{kind}?format=csv"]]


def test_a_page_of_manufacturers_begins_after_the_one_before(office: BackOfficeSite, sam: Person) -> None:
    made = [{"key": f"maker-{n:03}", "name": f"Zzz maker {n:03}"} for n in range(60)]
    office.service.must_load("manufacturers", made)
    office.refresh()
    seen: list[str] = []
    address = "/manufacturer"
    while address:
        page = sam.get(address).text
        seen += [part.split('"')[0] for part in page.split('<a href="/product?manufacturer=')[1:]]
        following = page.split('rel="next" href="')[1:]
        address = following[0].split('"')[0] if following else ""
    assert seen[-60:] == [row["key"] for row in made]
    assert len(seen) == len(set(seen))


def test_a_product_is_shown_with_stock_deliveries_and_every_price(office: BackOfficeSite, sam: Person) -> None:
    service, customer = office.service, office.service.customer()
    sku = sell(service, "SHOWN/1", 20, available=2)
    service.must_load("price-list", [{"price_list": "trade", "sku": sku, "single_unit_cost": 18}])
    service.must_load("contract-prices", [{"customer_id": customer.id, "sku": sku, "single_unit_cost": "17.50"}])
    service.must_load("incoming", [{"sku": sku, "incoming": 40, "expected_on": "2026-09-01"}])
    placed = buy(customer, [(sku, 5)], NEXT_DAY)
    shown = text_of(sam.get(f"/product/{quote(sku)}"))
    for part in ("£20.00", "trade", "£18.00", "£17.50", str(customer.id), "1 Sep 2026", "40"):
        assert part in shown
    assert str(placed["order_reference"]) in shown
    for part in ("2 Allocated to orders", "3 Back-ordered", "2 On hand"):
        assert part in shown
    unknown = sam.get("/product/NO-SUCH")
    assert unknown.status_code == 404
    assert "does not exist" in text_of(unknown)


@pytest.mark.parametrize(("weight", "said"), [(20, "Weight 20 kg"), ("0.250", "Weight 0.25 kg"), (0, "EAN")])
def test_a_weight_is_written_in_full(office: BackOfficeSite, sam: Person, weight: object, said: str) -> None:
    sku = sell(office.service, "WEIGHED", weight_kg=weight, ean="5000000000012")
    page = text_of(sam.get(f"/product/{sku}"))
    assert said in page
    assert ("Weight" in page) is bool(weight)


def test_a_product_is_shown_as_customers_see_it_with_its_margin(office: BackOfficeSite) -> None:
    service = office.service
    picture = "https://pictures.shop.test/lamp.jpg"
    sku = sell(
        service,
        "LOOKS",
        20,
        description="A <b>bright</b> lamp",
        attributes={"Colour": "Red"},
        images=[{"url": picture, "is_primary": True}],
        consumer_unit_cost=30,
        purchase_cost=15,
    )
    manager = staff_member(service, office.url, "catalogue")
    for page in (manager.get("/product?query=looks"), manager.get(f"/product/{sku}")):
        assert f'src="{picture}"' in page.text
        assert "tint-red" in page.text
    for part in ("A <b>bright</b> lamp", "Colour Red", "RRP £30.00", "Costs you £15.00", "25%", "Acme"):
        assert part in text_of(page)
    support = text_of(staff_member(service, office.url, "support").get(f"/product/{sku}"))
    assert "RRP £30.00" in support
    assert "Costs you" not in support


def test_a_price_is_explained_for_a_customer_by_number_or_name(office: BackOfficeSite, sam: Person) -> None:
    service = office.service
    customer = service.customer(company="Only <One> Ltd")
    for number in range(2):
        service.customer(company=f"Several {number}")
    sku = sell(service, "WHY", 30)
    service.must_load("contract-prices", [{"customer_id": customer.id, "sku": sku, "single_unit_cost": 25}])
    for named in (str(customer.id), "only <one>"):
        page = sam.get(f"/product/{sku}", params={"customer": named, "quantity": "10"})
        for part in ("£25.00 each", "together £250.00", "The break is 10 and more", "A contract price that is valid"):
            assert part in text_of(page)
        assert "Only &lt;One&gt; Ltd" in page.text
        assert page.text.count('class="applied"') == 1
    for named, message in (
        ("several", "Several customers match"),
        ("nobody", "No customer has"),
        ("99999", "customer 99999 not found"),
    ):
        wrong = sam.get(f"/product/{sku}", params={"customer": named})
        assert wrong.status_code == 400
        assert message in text_of(wrong)
        assert "form-customer-error" in wrong.text
    wrong = sam.get(f"/product/{sku}", params={"customer": str(customer.id), "quantity": "many"})
    assert wrong.status_code == 400
    assert "form-quantity-error" in wrong.text


def test_the_warehouse_sees_stock_but_no_prices(office: BackOfficeSite, warehouse: Person) -> None:
    sku = sell(office.service, "NO-PRICES", "123.45", available=3)
    page = warehouse.get(f"/product/{sku}?customer=1001")
    assert page.status_code == 200
    assert "123.45" not in page.text
    assert "Why this price" not in page.text
    catalogue = staff_member(office.service, office.url, "catalogue").get(f"/product/{sku}?customer=1001").text
    assert "123.45" in catalogue
    assert "Why this price" not in catalogue


def test_the_warehouse_adjusts_stock_by_a_count_or_a_change(office: BackOfficeSite, warehouse: Person) -> None:
    sku = sell(office.service, "COUNT/ED", available=10)
    form = warehouse.get(f"{ADJUST}?sku={sku.lower()}")
    assert "10 on hand" in text_of(form)
    page = warehouse.sends(ADJUST, fields_of(form) | {"set": "1,200", "reason": "Counted"})
    assert "COUNT/ED: 1,200 on hand, 1,200 available." in text_of(page)
    page = warehouse.sends(ADJUST, {"sku": sku, "change": "-200", "reason": "Water damage"})
    assert "1,000 on hand" in text_of(page)
    found = rows(
        office.service, "select actor_name, after from audit_entry where subject = %s order by id", f"product/{sku}"
    )
    assert [name for name, _ in found] == [warehouse.email] * 2
    assert found[1][1] == {sku: 1000, "reason": "Water damage"}


def test_the_warehouse_puts_a_product_on_another_shelf_without_a_reason(
    office: BackOfficeSite, warehouse: Person
) -> None:
    sku = sell(office.service, "SHELVED", available=10)
    shown = warehouse.get(f"/product/{sku}")
    assert "none Place" in text_of(shown)
    assert f'class="tile " href="{ADJUST}?sku={sku}"' in shown.text
    page = warehouse.sends(ADJUST, {"sku": sku, "location": "C-01-4"})
    assert f"{sku}: 10 on hand, 10 available. Its place is C-01-4." in text_of(page)
    assert "C-01-4 Place" in text_of(page)
    assert "Now C-01-4" in text_of(warehouse.get(f"{ADJUST}?sku={sku}"))
    query = "select before, after from audit_entry where subject = %s"
    assert rows(office.service, query, f"product/{sku}") == [
        ({"location": ""}, {"location": "C-01-4", "reason": "New place"})
    ]
    rejected = warehouse.send(ADJUST, {"sku": sku, "location": "C-01-4", "set": "5", "reason": ""})
    assert "form-reason-error" in rejected.text
    finance = staff_member(office.service, office.url, "finance")
    assert ADJUST not in finance.get(f"/product/{sku}").text


def test_a_wrong_adjustment_is_explained_and_kept(office: BackOfficeSite, warehouse: Person) -> None:
    sku = sell(office.service, "WRONG", available=4)
    buy(office.service.customer(), [(sku, 4)])
    for fields, field in (
        ({"reason": "Both", "set": "1", "change": "1"}, "set"),
        ({"reason": "Neither"}, "set"),
        ({"reason": "Odd", "set": "-1"}, "set"),
        ({"reason": "Odd", "change": "some"}, "change"),
        ({"reason": "", "set": "5"}, "reason"),
    ):
        rejected = warehouse.send(ADJUST, {"sku": sku, "set": "", "change": "", **fields})
        assert rejected.status_code == 400
        assert f"form-{field}-error" in rejected.text
    rejected = warehouse.send(ADJUST, {"sku": sku, "set": "1", "reason": "Fewer <than> sold"})
    assert rejected.status_code == 409
    assert "allocated to orders" in text_of(rejected)
    assert "form-set-error" in rejected.text
    assert "Fewer &lt;than&gt; sold" in rejected.text
    assert warehouse.get(f"{ADJUST}?sku=NO-SUCH").status_code == 404
    assert warehouse.send(ADJUST, {"sku": "NO-SUCH", "set": "1", "reason": "x"}).status_code == 404


def test_only_the_warehouse_adjusts_stock(office: BackOfficeSite) -> None:
    for role in ("support", "finance", "catalogue"):
        person = staff_member(office.service, office.url, role)
        assert ADJUST not in person.get("/product/PHONE").text
        assert person.get(f"{ADJUST}?sku=PHONE").status_code == 403
        assert person.send(ADJUST, {"sku": "PHONE", "set": "1", "reason": "x"}).status_code == 403


def test_the_list_shows_prices_to_those_who_may_see_them(shop: Service, office: BackOfficeSite) -> None:
    sku = sell(shop, "PRICED-1", 31, purchase_cost=17)
    seen = {}
    for role in ("warehouse", "support", "catalogue"):
        person = staff_member(office.service, office.url, role)
        page = text_of(person.get(f"/product?query={sku}"))
        file = person.get(f"/product?query={sku}&format=csv").text
        heading, row = file.splitlines()
        assert len(heading.split(",")) == len(row.split(","))
        seen[role] = ["£31.00" in page, "£17.00" in page, "31.00" in file, "17.00" in file, "purchase_cost" in heading]
    assert seen["warehouse"] == [False] * 5
    assert seen["support"] == [True, False, True, False, False]
    assert seen["catalogue"] == [True] * 5
