"""Today, and the search box."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from psycopg.sql import SQL, Identifier

from support.backoffice import BackOfficeSite, backoffice_of
from support.billing import credit, due_of, invoiced, issue_part, number_of, pay_in
from support.orders import at, buy, create, dispatch, rows, sell
from support.pages import Person, staff_member, text_of
from support.quotes import request_quote
from support.service import Customer, Service
from support.shop import ADDRESS
from tradecounter.kit.clock import uk_date
from tradecounter.shipments.wire import Serial


@pytest.fixture(scope="module")
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer(company="Looked <For> Ltd", email_address="looked@for.example")


def test_today_shows_what_waits_with_links_to_the_lists(office: BackOfficeSite) -> None:
    service = office.service
    customer = service.customer(company="Slow Payers", term_days=3)
    invoiced(service, customer)
    buy(customer)
    buy(customer, [(sell(service, "TODAY-NONE"), 2)])
    quote = request_quote(customer)
    rows(
        service,
        "insert into procrastinate_jobs (queue_name, task_name, status, args)"
        " values ('default', 'mail_order_confirmed', 'failed', '{}') returning id",
    )
    with at(service, service.clock.now() + timedelta(days=5)):
        page = staff_member(service, office.url, "administrator").get("/")
    text = text_of(page)
    for part in ("can be dispatched", "wait", "to price", "is overdue", "failed: look why",
                 "orders confirmed in 30 days", "due, by age", "Latest orders"):  # fmt: skip
        assert part in text
    for link in ("/order?status=To+dispatch", "/money", "/job"):
        assert f'href="{link}' in page.text
    latest = page.text.partition("<h2>Latest orders</h2>")[2]
    assert f'href="/quote/{quote["confirmation_code"]}"' in latest
    assert "<small>quote</small>" in latest
    tasks = page.text.split('<ol class="tasks">')[1]
    assert tasks.index("failed: look why") < tasks.index("to price") < tasks.index("can be dispatched")


def test_today_of_the_catalogue_leads_to_products_that_want_work(office: BackOfficeSite) -> None:
    office.service.must_load("products", [{"sku": "MEND-1", "name": "Bare", "manufacturer": "acme", "weight_kg": 1}])
    kay = staff_member(office.service, office.url, "catalogue")
    page = kay.get("/")
    for lack in ("without_picture", "without_description", "without_ean"):
        assert page.text.count(f'href="/product?show={lack}"') == 1  # in a tile, and not again in words
        assert "MEND-1" in kay.get(f"/product?show={lack}").text
    for figure in ("Below cost", "Out of stock, orders wait"):
        assert figure in text_of(page)


@pytest.mark.parametrize(
    ("role", "main"), [("finance", "/payment/import"), ("support", "/order/new"), ("administrator", "/order/new")]
)
def test_the_main_button_is_what_the_role_does_most(office: BackOfficeSite, role: str, main: str) -> None:
    page = staff_member(office.service, office.url, role).get("/")
    assert re.findall(r'<a class="button main" href="([^"]+)"', page.text)[-1] == main


def test_the_figures_of_the_day_count_what_is_confirmed(office: BackOfficeSite) -> None:
    customer = office.service.customer()
    sam = staff_member(office.service, office.url, "administrator")
    count, worth = _confirmed_today(sam)
    create(customer)
    assert _confirmed_today(sam) == (count, worth)
    [(gross,)] = rows(
        office.service, "select gross from orders where order_reference = %s", buy(customer)["order_reference"]
    )
    assert _confirmed_today(sam) == (count + 1, worth + gross)


def test_the_chart_counts_earlier_days_and_the_latest_orders(office: BackOfficeSite) -> None:
    customer, service = office.service.customer(), office.service
    buy(customer)
    with at(service, service.clock.now() + timedelta(days=1)):
        sam = staff_member(service, office.url, "administrator")
        count = _confirmed_in_thirty_days(sam)
        assert count > _confirmed_today(sam)[0]
        buy(customer)
        assert _confirmed_in_thirty_days(sam) == count + 1
    with at(service, service.clock.now() + timedelta(days=30)):
        sam = staff_member(service, office.url, "administrator")
        assert _confirmed_in_thirty_days(sam) == 1
        assert "1 order confirmed in 30 days" in text_of(sam.get("/"))


def _confirmed_in_thirty_days(person: Person) -> int:
    found = re.search(r"([0-9,]+) orders? confirmed in 30 days", text_of(person.get("/")))
    assert found is not None
    return int(found[1].replace(",", ""))


def _confirmed_today(person: Person) -> tuple[int, Decimal]:
    found = re.search(r"(\d+) Confirmed today £([0-9.,]+) Confirmed today, with VAT", text_of(person.get("/")))
    assert found
    return int(found[1]), Decimal(found[2].replace(",", ""))


def test_each_role_sees_what_it_deals_with_first(office: BackOfficeSite) -> None:
    buy(office.service.customer())
    packer = staff_member(office.service, office.url, "warehouse")
    page = text_of(packer.get("/"))
    assert "To dispatch" in page
    assert "can be dispatched" not in page  # the list to pick says it
    for part in ("to price", "overdue", "Failed jobs", "with VAT", "to invoice", "to credit"):
        assert part not in page
    office.service.must_load("manufacturers", [{"key": f"new-{n}", "name": f"New {n}"} for n in range(3)])
    buyer = staff_member(office.service, office.url, "catalogue")
    today = buyer.get("/")
    assert "Latest imports" in text_of(today)
    assert "3 added, 0 changed" in text_of(today)
    assert 'href="/product-form"' in today.text


def test_what_customers_owe_is_added_up_again_after_each_change_and_on_another_day(own_shop: Service) -> None:
    with backoffice_of(own_shop) as office:
        fran = staff_member(own_shop, office.url, "finance")
        customer = own_shop.customer(term_days=3)
        number, other = (number_of(own_shop, invoiced(own_shop, customer)) for _ in range(2))
        due = due_of(own_shop, number)

        def shown() -> str:
            found = re.search("£([0-9.,]+) due, by age", text_of(fran.get("/")))
            return "nothing" if found is None else found[1]

        assert [shown(), shown()] == [str(due * 2)] * 2
        assert "is overdue" not in text_of(fran.get("/"))
        pay_in(own_shop, customer, str(due), number)
        assert shown() == str(due)
        credit(own_shop, other, amount="10.00")
        left = due_of(own_shop, other)
        assert (shown(), left < due) == (str(left), True)
        with at(own_shop, own_shop.clock.now() + timedelta(days=5)):
            later = staff_member(own_shop, office.url, "finance")  # the other session has ended
            assert f"£{left} is overdue" in text_of(later.get("/"))
        pay_in(own_shop, customer, str(left), other)
        assert shown() == "nothing"


def test_the_warehouse_sees_what_to_pick_and_what_comes_today(own_shop: Service) -> None:
    with backoffice_of(own_shop) as office:
        customer = own_shop.customer()
        late = buy(customer)["order_reference"]
        with at(own_shop, own_shop.clock.now() + timedelta(days=3)):
            fresh = buy(customer)["order_reference"]
            waits = buy(customer, [(sell(own_shop, "SOON"), 2)])["order_reference"]
            today = str(uk_date(own_shop.clock.now()))
            own_shop.must_load("incoming", [{"sku": "PHONE", "incoming": 7, "expected_on": today}])
            packer = staff_member(own_shop, office.url, "warehouse")
            page = packer.get("/")
            seller = text_of(staff_member(own_shop, office.url, "support").get("/"))
    text = text_of(page)
    places = [text.index(name) for name in (late, fresh)]
    assert places == sorted(places)
    assert "since" in text[places[0] : places[1]]
    assert re.search(r"\b7 . PHONE", text)
    assert waits not in text[text.index("To pick now") : text.index("Deliveries expected")]
    assert f'value="{fresh}" form="many"' in page.text
    assert "Latest orders" not in text
    assert "To pick now" not in seller


def test_what_can_be_dispatched_is_counted_and_listed_by_one_rule(own_shop: Service) -> None:
    with backoffice_of(own_shop) as office:
        customer = own_shop.customer()
        whole, part, invoiced_part, late = (buy(customer, [("PHONE", 2)]) for _ in range(4))
        for placed in (part, invoiced_part):
            dispatch(own_shop, placed, (placed["items"][0]["id"], 1))
        issue_part(own_shop, invoiced_part)
        dispatch(own_shop, late)
        lacking = buy(customer, [("PHONE", 1), (sell(own_shop, "LACKING"), 1)])
        dispatch(own_shop, lacking, (lacking["items"][0]["id"], 1))
        packer = staff_member(own_shop, office.url, "warehouse")
        page, listed = packer.get("/"), packer.get("/order?status=To+dispatch")
    text = text_of(page)
    panel = text[text.index("To pick now") : text.index("Deliveries expected")]
    assert "3 To dispatch" in text
    assert "/order?status=To+dispatch" in page.text
    for placed in (whole, part, invoiced_part):
        assert placed["order_reference"] in panel
        assert f'value="{placed["order_reference"]}"' in listed.text
    for placed in (late, lacking):
        assert placed["order_reference"] not in panel
        assert placed["order_reference"] not in listed.text


def test_one_exact_hit_opens_at_once(office: BackOfficeSite, sam: Person, customer: Customer) -> None:
    placed = buy(customer, customer_reference="SCAN-ME-1")
    reference = placed["order_reference"]
    serial = f"SN-{reference}"
    item = placed["items"][0]["id"]
    dispatch(office.service, placed, (item, 1), serials=[Serial(item, serial)], tracking_number="TRACK-77")
    for text in (reference, reference.lower(), f"  {reference} ", "scan-me-1", serial.lower(), "track-77",
                 placed["confirmation_code"]):  # fmt: skip
        found = sam.get("/search", params={"q": text})
        assert found.status_code == 303, text
        assert found.headers["Location"] == f"/order/{reference}"


def test_the_sku_of_a_product_that_was_added_just_now_opens_it(office: BackOfficeSite, sam: Person) -> None:
    assert "Nothing" in text_of(sam.get("/search?q=JUST-NOW"))  # which reads the catalogue
    sku = sell(office.service, "JUST-NOW")
    assert sam.get("/search?q=just-now").headers["Location"] == f"/product/{sku}"


def test_a_part_of_a_label_finds_its_order(office: BackOfficeSite, sam: Person, customer: Customer) -> None:
    placed = buy(customer)
    item = placed["items"][0]["id"]
    unit = Serial(item, "KXW-8813.ZQ77", "00:11:22:5A:5B:7e")
    dispatch(office.service, placed, (item, 1), serials=[unit], tracking_number="1Z 999 AA1 0123")
    for text in ("kxw8813zq77", "KXW-8813", "zq77", "3.zq77", "5a5b7e", "1z999", "aa10123", "1-0123"):
        opened = sam.get("/search", params={"q": text})
        assert opened.headers.get("Location") == f"/order/{placed['order_reference']}", text


def test_invoices_and_credit_notes_are_found_by_number(office: BackOfficeSite, sam: Person, customer: Customer) -> None:
    number = number_of(office.service, invoiced(office.service, customer))
    note = credit(office.service, number, amount="1.00").number
    assert sam.get("/search", params={"q": f"invoice {number}"}).headers["Location"] == f"/invoice/{number}"
    assert sam.get("/search", params={"q": f"CN {note}"}).headers["Location"] == f"/credit-note/{note}"


def test_a_part_of_a_purchase_order_finds_the_order_and_its_invoice(
    office: BackOfficeSite, sam: Person, customer: Customer
) -> None:
    placed = invoiced(office.service, customer, customer_reference="PO-88/41976")
    number = number_of(office.service, placed)
    for text in ("41976", "po-88/41976"):
        assert f"Invoice {number} Order {placed['order_reference']} · PO-88/41976" in text_of(
            sam.get("/search", params={"q": text, "live": "1"})
        )
        found = sam.get("/search", params={"q": text})
        assert found.headers["Location"] == f"/order/{placed['order_reference']}", text


def test_several_hits_are_grouped_and_escaped(sam: Person, customer: Customer) -> None:
    create(customer, customer_reference="TWICE")
    create(customer, customer_reference="TWICE")
    page = sam.get("/search", params={"q": "twice"})
    assert page.status_code == 200
    assert text_of(page).count("TWICE") == 2
    by_name = sam.get("/search", params={"q": "looked <f", "live": "1"})
    assert "Looked &lt;For&gt; Ltd" in by_name.text
    assert "Customers" in text_of(by_name)
    assert "Products" in text_of(sam.get("/search", params={"q": "PHON", "live": "1"}))
    assert sam.get("/search", params={"q": "phone"}).headers["Location"] == "/product/PHONE"
    address = sam.get("/search", params={"q": "Looked@For.example"}).headers["Location"]
    assert address == f"/customer/{customer.id}"
    nothing = sam.get("/search", params={"q": "<script>alert(1)</script>"})
    assert "Nothing is called" in text_of(nothing)
    assert "<script>alert" not in nothing.text


def test_people_find_things_by_any_part_that_they_have_at_hand(office: BackOfficeSite, sam: Person) -> None:
    service = office.service
    buyer = service.customer(company="Zephyr Wireless Ltd", first_name="Élodie", last_name="Mårłowe")
    sku = sell(service, "WF-77", "1186.35", name="Zephyrine Wi-Fi bridge", available=9)
    address = {**ADDRESS, "city": "Abergavenny", "zip": "NP7 5PR", "contact_number": "+44 (0)1873 123456"}
    assert buyer.post("/customer/address", address).status_code == 201
    placed = buy(buyer, [(sku, 1)], customer_reference="PO-41684/26", shipping_address=address)
    [(total,)] = rows(service, "select gross from orders where order_reference = %s", placed["order_reference"])
    gross = f"{total:,.2f}"
    order, customer = placed["order_reference"], "Zephyr Wireless Ltd"
    assert "WF-77" in text_of(sam.get("/product", params={"query": "zephyrine"}))  # which reads what has just changed
    for text, name in (
        ("41684", order), ("4168", order), ("PO 41684", order), ("po41684", order), ("PO-41684/26", order),
        ("NP7 5PR", order), ("np75pr", customer), ("np7", customer), (gross, order), (f"£{gross}", order),
        ("Abergavenny", customer), ("aberg", customer), ("mårłowe", customer),
        ("01873 123 456", customer), ("+441873123456", customer),
        ("0044 1873-123456", customer), ("marlowe elodie", customer), ("wireless zeph", customer),
        ("zephyrine wifi", sku), ("bridges wi fi", sku), ("zefyrine", sku),
    ):  # fmt: skip
        assert name in text_of(sam.get("/search", params={"q": text, "live": "1"})), text
    assert "Nothing is called" in text_of(sam.get("/search", params={"q": "41685"}))


def test_hits_show_while_somebody_types_and_the_only_one_opens(sam: Person, customer: Customer) -> None:
    placed = buy(customer, customer_reference="WHILE-TYPING-9")
    path = f"/order/{placed['order_reference']}"
    for text in ("while", "while typ", "whiletyping9"):
        shown = sam.get("/search", params={"q": text, "live": "1"})
        assert (shown.status_code, f'href="{path}"' in shown.text) == (200, True)
        assert sam.get("/search", params={"q": text}).headers["Location"] == path
    assert "Orders" not in text_of(sam.get("/search", params={"q": "w", "live": "1"})).partition("Found")[2]


def test_search_takes_any_text(sam: Person) -> None:
    for text in ("", " ", "0", "-1", "9" * 40, "%", "'", "\\", "a" * 200, "ORD-", "RMA-999999", "é", "inv"):
        assert sam.get("/search", params={"q": text}).status_code in {200, 303}, text
    for text in ("\x00", "a" * 201):
        assert sam.get("/search", params={"q": text}).status_code == 400


def test_search_finds_only_what_the_role_may_see(office: BackOfficeSite, customer: Customer) -> None:
    number = number_of(office.service, invoiced(office.service, customer))
    packer = staff_member(office.service, office.url, "warehouse")
    found = text_of(packer.get("/search", params={"q": f"invoice {number}"}))
    assert "Nothing is called" in found
    assert "Nothing is called" in text_of(packer.get("/search", params={"q": "looked@for.example"}))
    assert "data-find" in packer.get("/order").text


def test_thousands_that_wait_are_a_thousand_and_more(office: BackOfficeSite) -> None:
    service = office.service
    buy(service.customer())
    columns = rows(
        service,
        "select column_name from information_schema.columns"
        " where table_name = 'orders' and is_generated = 'NEVER' and is_identity = 'NO'",
    )
    own = {"number": "number + n", "order_reference": "order_reference || n", "confirmation_code": "md5(n::text)"}
    names = [name for (name,) in columns]
    copied = rows(
        service,
        SQL(
            "insert into orders ({}) select {} from (select * from orders where status = 'Awaiting dispatch' limit 1),"
            " generate_series(1000000, 1000999) n returning id"
        ).format(
            SQL(", ").join(map(Identifier, names)),
            SQL(", ").join(SQL(own[name]) if name in own else Identifier(name) for name in names),
        ),
    )
    try:
        page = staff_member(service, office.url, "administrator").get("/")
        assert "1,000+ orders can be dispatched" in text_of(page)
    finally:
        rows(service, "delete from orders where id = any(%s) returning id", [order for (order,) in copied])
