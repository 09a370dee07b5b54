"""The staff's pages of orders."""

import re
from datetime import UTC, datetime

import pytest

from support.backoffice import BackOfficeSite
from support.events import number_events
from support.orders import at, buy, cancel, create, dispatch, rows, sell
from support.pages import Person, fields_of, staff_member, text_of
from support.quotes import request_quote
from support.service import Customer, Service
from support.shop import NEXT_DAY
from tradecounter.edge.permissions import Role


@pytest.fixture(scope="module")
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer(company="Bright & <Sons>")


def path_of(placed: dict[str, object]) -> str:
    return f"/order/{placed['order_reference']}"


def test_the_list_shows_orders_and_is_filtered_and_sorted(sam: Person, customer: Customer) -> None:
    cheap = buy(customer, [("CABLE", 1)], customer_reference="CHEAP")
    dear = buy(customer, [("PHONE", 9)], customer_reference="DEAR")
    page = sam.get(f"/order?customer_id={customer.id}&sort=total").text
    assert page.index(cheap["order_reference"]) < page.index(dear["order_reference"])
    page = sam.get(f"/order?customer_id={customer.id}&sort=-total").text
    assert page.index(dear["order_reference"]) < page.index(cheap["order_reference"])
    assert 'aria-sort="descending"' in page
    only = text_of(sam.get("/order?customer_reference=dear"))
    assert dear["order_reference"] in only
    assert cheap["order_reference"] not in only
    assert "No order matches" in text_of(sam.get("/order?reference=NOTHING"))


def test_those_who_dispatch_see_where_the_lines_of_an_order_are(office: BackOfficeSite, customer: Customer) -> None:
    service = office.service
    one, other = (sell(service, f"PLACED-{number}", available=9) for number in (1, 2))
    parts = [{"sku": one, "quantity": 1}, {"sku": other, "quantity": 3}]
    kit = sell(service, "PLACED-KIT", available=9, components=parts)
    shelves = [
        {"sku": one, "available": 9, "location": "A-1"},
        {"sku": other, "available": 9, "location": "B-2"},
    ]
    service.must_load("stock", shelves)
    placed = buy(customer, [(other, 2), (kit, 2), ("CABLE", 1)])

    def places(role: Role) -> list[tuple[str, str]]:
        page = staff_member(service, office.url, role).get(path_of(placed)).text
        cells = re.findall(r'<td data-label="Place"[^>]*>(.*?)</td>', page)
        parts = re.findall(r'class="whole part">(.*?)</small>', page)
        return [(re.sub("<[^>]+>", "", each), "") for each in cells] + [("", re.sub("<[^>]+>", "", p)) for p in parts]

    components = [("", "A-1 2 \u00d7 PLACED-1"), ("", "B-2 6 \u00d7 PLACED-2")]
    assert places("support") == [("B-2", ""), ("", ""), ("", ""), *components]
    assert places("warehouse") == [("", ""), ("B-2", ""), ("no place", ""), *components]  # in the order of the shelves
    assert places("finance") == []
    dispatch(service, placed)
    assert places("warehouse") == []


def test_the_warehouse_sees_what_to_pick_and_no_price(office: BackOfficeSite, customer: Customer) -> None:
    sku = sell(office.service, "PRICELESS", "71.23", available=4)
    placed = buy(customer, [(sku, 6)])
    picker, support = (staff_member(office.service, office.url, role) for role in ("warehouse", "support"))
    seen = text_of(picker.get(path_of(placed)))
    assert "To pick Back-ordered Ordered" in seen
    assert "4 2 6" in seen
    for hidden in ("71.23", "£", "Confirmation code", "Billing address"):
        assert hidden in text_of(support.get(path_of(placed)))
        assert hidden not in seen
    listed = f"/order?customer_id={customer.id}&reference={placed['order_reference']}"
    for person, shown in ((support, True), (picker, False)):
        assert ("£" in text_of(person.get(listed))) is shown
        assert ("gross" in person.get(f"{listed}&format=csv").text) is shown


def test_filters_that_are_folded_away_stand_open_while_one_of_them_is_set_or_wrong(sam: Person) -> None:
    for query, is_open in (("status=Invoiced&sku=", False), ("sku=CABLE", True), ("created_from=soon", True)):
        assert ('<details class="more-filters" open>' in sam.get(f"/order?{query}").text) is is_open


def test_orders_are_found_by_words_of_a_product_and_by_an_exact_sku(office: BackOfficeSite, sam: Person) -> None:
    service, customer = office.service, office.service.customer()
    handset = sell(service, "WORDED", name="Marigold handset")
    longer = sell(service, f"{handset}-XL", name="Marigold handset, large")
    one, other = (buy(customer, [(sku, 1)])["order_reference"] for sku in (handset, longer))

    def found(text: str) -> list[bool]:
        page = sam.get(f"/order?sku={text}").text
        return [f"/order/{each}" in page for each in (one, other)]

    assert found("handset+marigold") == [True, True]
    assert found("marigold+large") == [False, True]
    assert found(handset.lower()) == [True, False]  # though the words of the other SKU have it, too
    misspelt = sam.get("/order?sku=marigld+handset&state=confirmed")
    assert "read as “marigold”" in text_of(misspelt)
    assert "state=confirmed&amp;sku=%22marigld+handset%22" in misspelt.text
    unknown = sam.get("/order?sku=xyzzy+handset")
    assert "No order matches the filters" in text_of(unknown)
    exact = office.client(office.token("orders:read")).get("/api/order", params={"sku": "marigold"})
    assert (exact.status_code, exact.json()) == (200, [])  # words are for people


def test_a_wrong_filter_is_explained_beside_its_field(sam: Person) -> None:
    page = sam.get("/order?created_from=soon&sku=PHONE")
    assert page.status_code == 400
    assert 'aria-invalid="true"' in page.text
    assert 'value="soon"' in page.text
    assert "Placed from 'soon' is not a day" in text_of(page)
    assert "form-created_from-error" in page.text


def test_the_days_of_the_filter_begin_at_midnight_in_the_uk(office: BackOfficeSite, sam: Person) -> None:
    customer = office.service.customer()
    with at(office.service, datetime(2026, 6, 15, 23, 30, tzinfo=UTC)):  # half an hour into the 16th
        placed = buy(customer)["order_reference"]

    def found(day: str) -> bool:
        return placed in text_of(sam.get(f"/order?customer_id={customer.id}&created_from={day}&created_to={day}"))

    assert [found(day) for day in ("2026-06-15", "2026-06-16")] == [False, True]


def test_pages_of_the_list_have_every_order_once(office: BackOfficeSite, sam: Person) -> None:
    customer = office.service.customer(credit="9000000.00")
    placed = {str(buy(customer, [("CABLE", 1)])["order_reference"]) for _ in range(53)}
    for sort in ("placed", "-placed", "total", "-total", "customer"):
        seen: list[str] = []
        address = f"/order?customer_id={customer.id}&sort={sort}"
        while address:
            page = sam.get(address).text
            seen += [part.split('"')[0] for part in page.split('<a href="/order/')[1:]]
            following = page.split('rel="next" href="')[1:]
            address = following[0].split('"')[0].replace("&amp;", "&") if following else ""
        assert len(seen) == 53
        assert set(seen) == placed
    assert sam.get("/order?after=nonsense").status_code == 400


def test_the_list_is_a_file_without_formulas(sam: Person, customer: Customer) -> None:
    placed = buy(customer, [("CABLE", 1)], customer_reference="=HYPERLINK(1)")
    found = sam.get(f"/order?reference={placed['order_reference']}&format=csv")
    assert found.headers["Content-Type"].startswith("text/csv")
    heading, row = found.text.splitlines()
    assert heading.startswith("reference,customer_id,customer")
    assert "'=HYPERLINK(1)" in row


def test_markup_in_data_is_escaped(sam: Person, customer: Customer) -> None:
    placed = buy(customer, [("CABLE", 1)], customer_reference="<script>alert(1)</script>")
    sam.sends(f"{path_of(placed)}/note", {"text": "<b>bold</b>"})
    for path in ("/order", path_of(placed)):
        page = sam.get(path).text
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "&lt;b&gt;bold" in sam.get(path_of(placed)).text
    assert "Bright &amp; &lt;Sons&gt;" in page


def test_an_order_is_shown_with_its_lines_and_history(sam: Person, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 2), ("CABLE", 3)])
    shown = text_of(sam.get(path_of(placed)))
    for part in ("PHONE", "CABLE", "Nothing is dispatched yet", "confirmed the order", "£"):
        assert part in shown
    pending = create(customer)
    assert "not confirmed" in text_of(sam.get(f"/order/{pending['confirmation_code']}"))


def test_a_quote_in_the_list_leads_to_the_desk_of_quotes(sam: Person, customer: Customer) -> None:
    quote = request_quote(customer, customer_reference="A QUOTE")
    path = f"/quote/{quote['confirmation_code']}"
    assert f'href="{path}"' in sam.get("/order?customer_reference=a+quote").text
    page = sam.get(f"/order/{quote['confirmation_code']}").text
    assert f'class="button main" href="{path}"' in page
    assert "/confirm" not in page


def test_a_note_is_added_by_a_plain_form_and_its_author_is_recorded(
    office: BackOfficeSite, sam: Person, customer: Customer
) -> None:
    placed = buy(customer)
    form = sam.get(f"{path_of(placed)}/note")
    fields = fields_of(form) | {"text": "Wants it by Friday."}
    page = sam.sends(f"{path_of(placed)}/note", fields)
    assert "The note is added." in text_of(page)
    assert "Wants it by Friday." in text_of(page)
    again = sam.get(path_of(placed))
    assert "The note is added." not in text_of(again)
    [(kind, name, address)] = rows(
        office.service,
        "select actor_kind, actor_name, address from audit_entry where action = 'order.note' and subject = %s",
        f"order/{placed['order_reference']}",
    )
    assert (kind, name) == ("staff", sam.email)
    assert address


def test_a_form_that_is_sent_twice_changes_something_once(sam: Person, customer: Customer) -> None:
    placed = buy(customer)
    fields = fields_of(sam.get(f"{path_of(placed)}/note")) | {"text": "Once"}
    for _ in range(2):
        sam.sends(f"{path_of(placed)}/note", fields)
    assert text_of(sam.get(path_of(placed))).count("Once") == 1
    assert "Another" in text_of(sam.sends(f"{path_of(placed)}/note", {**fields, "text": "Another"}))


def test_errors_are_beside_their_fields_and_keep_what_was_typed(sam: Person, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 4)])
    fields = fields_of(sam.get(f"{path_of(placed)}/cancel")) | {"items-0-quantity": "many", "reason": ""}
    rejected = sam.send(f"{path_of(placed)}/cancel", fields)
    assert rejected.status_code == 400
    assert 'value="many"' in rejected.text
    assert 'aria-invalid="true"' in rejected.text
    assert 'aria-describedby="form-items-0-quantity-hint form-items-0-quantity-error"' in rejected.text
    assert "'many' is not a whole number such as 1200" in text_of(rejected)
    assert 'href="#form-reason"' in rejected.text
    too_many = sam.send(f"{path_of(placed)}/cancel", fields | {"items-0-quantity": "9", "reason": "x"})
    assert too_many.status_code == 400
    assert 'role="alert"' in too_many.text


def test_an_order_that_is_not_confirmed_is_listed_by_the_customers_reference(sam: Person, customer: Customer) -> None:
    code = create(customer, customer_reference="PO-FIRST")["confirmation_code"]
    for path in (f"/order?customer_id={customer.id}", f"/customer/{customer.id}", f"/customer/{customer.id}/order"):
        assert re.search(rf'<a href="/order/{code}">(<[^>]+>)*PO-FIRST<', sam.get(path).text)


def test_units_are_cancelled_and_then_the_rest(sam: Person, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 4)])
    fields = fields_of(sam.get(f"{path_of(placed)}/cancel")) | {"items-0-quantity": "1", "reason": "Too many"}
    page = sam.sends(f"{path_of(placed)}/cancel", looked_at(sam, f"{path_of(placed)}/cancel", fields))
    assert "1 cancelled" in text_of(page)
    assert "The units are cancelled. The customer gets an e-mail." in text_of(page)
    fields = fields_of(sam.get(f"{path_of(placed)}/cancel")) | {"everything": "true", "reason": "All of it"}
    page = sam.sends(f"{path_of(placed)}/cancel", looked_at(sam, f"{path_of(placed)}/cancel", fields))
    assert "The order is cancelled. The customer gets an e-mail." in text_of(page)
    assert "Total with VAT was £" in text_of(page)
    over = sam.send(f"{path_of(placed)}/cancel", {"everything": "true", "reason": "Again"})
    assert over.status_code == 409
    assert "All of it" not in over.text


def looked_at(person: Person, path: str, fields: dict[str, str]) -> dict[str, str]:
    """The fields of the form that cancels, after it has shown the total for them."""
    return fields | fields_of(person.send(path, fields | {"preview": "live"}))


def test_nothing_is_cancelled_without_units_or_a_tick(sam: Person, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 4)])
    fields = fields_of(sam.get(f"{path_of(placed)}/cancel")) | {"reason": "Fewer"}
    for more, message in (({}, "say how many units"), ({"items-0-quantity": "1", "everything": "true"}, "not both")):
        rejected = sam.send(f"{path_of(placed)}/cancel", fields | more)
        assert rejected.status_code == 400
        assert message in text_of(rejected).lower()
    assert customer.get(f"/order/{placed['order_id']}").json()["items"][0]["quantity"] == 4


def test_units_are_cancelled_only_at_the_total_that_was_shown(sam: Person, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 4)])
    fields = fields_of(sam.get(f"{path_of(placed)}/cancel")) | {"items-0-quantity": "1"}
    looked = sam.send(f"{path_of(placed)}/cancel", fields | {"preview": "true"})
    assert looked.status_code == 200
    before = money(sam, placed)
    after = text_of(looked).partition(f"Total {before} ")[2].split()[0]
    fields["reason"] = "Too many"
    unseen = sam.send(f"{path_of(placed)}/cancel", fields)
    assert unseen.status_code == 200
    assert f"Total {before} {after}" in text_of(unseen)
    assert "Nothing is cancelled yet" in text_of(unseen)
    seen = fields_of(unseen)["seen"]
    assert seen == fields_of(looked)["seen"]
    other = sam.send(f"{path_of(placed)}/cancel", fields | {"items-0-quantity": "2", "seen": seen})
    assert other.status_code == 200
    assert fields_of(other)["seen"] != seen
    assert money(sam, placed) == before
    sam.sends(f"{path_of(placed)}/cancel", fields | fields_of(unseen))
    assert money(sam, placed) == after


def money(person: Person, placed: dict[str, object]) -> str:
    """The order's total with VAT, as its page shows it."""
    return text_of(person.get(path_of(placed))).partition("Total with VAT ")[2].split()[0]


def test_all_that_is_left_of_a_part_dispatched_order_is_cancelled(sam: Person, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 4)])
    fields = fields_of(sam.get(f"{path_of(placed)}/dispatch")) | {"items-0-quantity": "1"}
    sam.sends(f"{path_of(placed)}/dispatch", fields)
    fields = fields_of(sam.get(f"{path_of(placed)}/cancel")) | {"everything": "true", "reason": "No more"}
    looked = sam.send(f"{path_of(placed)}/cancel", fields | {"preview": "true"})
    assert "Then the status is “Dispatched”" in text_of(looked)
    page = sam.sends(f"{path_of(placed)}/cancel", fields | fields_of(looked))
    assert "3 cancelled" in text_of(page)


def test_an_unconfirmed_order_is_cancelled_as_a_whole(sam: Person, customer: Customer) -> None:
    path = f"/order/{create(customer)['confirmation_code']}/cancel"
    fields = fields_of(sam.get(path)) | {"reason": "They changed their mind"}
    assert fields["everything"] == "true"
    looked = sam.send(path, fields)
    assert looked.status_code == 200
    assert "£0.00" in text_of(looked)
    assert "The order is cancelled." in text_of(sam.sends(path, fields | fields_of(looked)))


def test_a_shipment_takes_serial_numbers_as_a_scanner_types_them(sam: Person, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 2)])
    fields = fields_of(sam.get(f"{path_of(placed)}/dispatch"))
    assert fields["items-0-quantity"] == "2"
    fields |= {"items-0-serials": "SN-1 00:00:5e:00:53:01\r\nSN-2\r\n", "tracking_number": "T-99"}
    fields |= {"carrier": "Other van", "dispatched_at": "2099-01-01T09:00"}
    rejected = sam.send(f"{path_of(placed)}/dispatch", fields)
    assert (rejected.status_code, "the order's confirmation" in text_of(rejected)) == (400, True)
    page = text_of(sam.sends(f"{path_of(placed)}/dispatch", fields | {"dispatched_at": ""}))
    for part in ("T-99", "SN-1, SN-2", "Other van", "The shipment is recorded."):
        assert part in page


def test_a_wrong_serial_number_is_explained(sam: Person, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 1)])
    fields = fields_of(sam.get(f"{path_of(placed)}/dispatch")) | {"items-0-serials": "SN-1 nonsense"}
    rejected = sam.send(f"{path_of(placed)}/dispatch", fields)
    assert rejected.status_code == 400
    assert "MAC address" in text_of(rejected)


def test_a_product_s_code_is_not_taken_for_a_serial_number(shop: Service, sam: Person, customer: Customer) -> None:
    sku = sell(shop, "SCANNED-AS-SERIAL", available=2, ean="5000000000203")
    placed = buy(customer, [(sku, 2)])
    fields = fields_of(sam.get(f"{path_of(placed)}/dispatch"))
    for kind, code in (("SKU", sku), ("EAN", "5000000000203")):
        rejected = sam.send(f"{path_of(placed)}/dispatch", fields | {"items-0-serials": f"SN-1\r\n{code}\r\n"})
        assert rejected.status_code == 400
        assert f"{code} is the {kind} of the product, not the serial number of a unit" in text_of(rejected)


def test_back_ordered_units_do_not_leave(sam: Person, customer: Customer) -> None:
    placed = buy(customer, [("SWITCH", 50)], NEXT_DAY)
    fields = fields_of(sam.get(f"{path_of(placed)}/dispatch")) | {"items-0-quantity": "50"}
    rejected = sam.send(f"{path_of(placed)}/dispatch", fields)
    assert rejected.status_code == 409
    assert "SWITCH: " in text_of(rejected)
    assert "units left are back-ordered" in text_of(rejected)
    assert fields["items-0-id"] not in text_of(rejected)


def test_htmx_gets_errors_in_place_and_is_sent_on_after_success(sam: Person, customer: Customer) -> None:
    placed = buy(customer)
    fields = fields_of(sam.get(f"{path_of(placed)}/note"))
    rejected = sam.send(f"{path_of(placed)}/note", fields, headers={"HX-Request": "true"})
    assert rejected.status_code == 400
    assert '<form id="form"' in rejected.text
    taken = sam.send(f"{path_of(placed)}/note", fields | {"text": "Hello"}, headers={"HX-Request": "true"})
    assert (taken.status_code, taken.headers["HX-Redirect"]) == (200, path_of(placed))


def test_today_shows_what_needs_someone(sam: Person, customer: Customer) -> None:
    buy(customer)
    shown = text_of(sam.get("/"))
    for part in ("To dispatch", "Back-ordered", "Quotes to price", "Failed jobs", "orders confirmed in 30 days"):
        assert part in shown


def test_a_multipart_form_is_read_too(sam: Person, customer: Customer) -> None:
    placed = buy(customer)
    headers = {"Sec-Fetch-Site": "same-origin"}
    sent = sam.http.post(f"{path_of(placed)}/note", files={"text": (None, "In parts")}, headers=headers)
    assert sent.status_code == 303
    assert "In parts" in text_of(sam.get(path_of(placed)))
    odd = sam.http.post(f"{path_of(placed)}/note", content=b"{}", headers={**headers, "Content-Type": "text/plain"})
    assert odd.status_code == 415


def test_an_order_says_when_what_it_waits_for_comes(office: BackOfficeSite, sam: Person) -> None:
    service = office.service
    late, unknown = sell(service, "WAITS-1", 10, available=1), sell(service, "WAITS-2", 10)
    service.must_load("incoming", [{"sku": late, "incoming": 1_000, "expected_on": "2026-07-06"}])
    placed = buy(service.customer(), [(late, 3), (unknown, 1)])
    page = text_of(sam.get(f"/order/{placed['order_reference']}"))
    assert "2 of 3 wait for stock: 1,000 are expected on 6 Jul 2026. 1 is reserved and ready." in page
    assert "It waits for stock. No delivery is expected yet." in page


def test_the_history_tells_cancelled_units_from_a_cancelled_order(
    office: BackOfficeSite, sam: Person, customer: Customer
) -> None:
    placed = buy(customer, [("PHONE", 2)])
    cancel(office.service, placed, "One less", (placed["items"][0]["id"], 1))
    said = text_of(sam.get(path_of(placed)))
    assert "cancelled units" in said
    assert "cancelled the order" not in said
    cancel(office.service, placed)
    said = text_of(sam.get(path_of(placed)))
    assert said.index("cancelled units") < said.index("cancelled the order")
    number_events(office.service)
    told = text_of(sam.get(f"/customer/{customer.id}/timeline"))
    assert told.count(f"cancelled units of order {placed['order_reference']}") == 1
    assert told.count(f"cancelled order {placed['order_reference']}") == 1
