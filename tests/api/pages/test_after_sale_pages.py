"""Staff track, film, invoice and take back what was dispatched, on pages."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.billing import issue_part
from support.orders import buy, level, rows, sell, shipments
from support.pages import Person, fields_of, staff_member, text_of
from support.reseller_twin import SELLER
from support.service import Customer, Service

NOTHING = {"once": ""}  # a form of one button


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    """A back office that may issue invoices."""
    with backoffice_of(shop, **SELLER) as running:
        yield running


@pytest.fixture(scope="module")
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer(company="Bright & <Sons>")


@pytest.fixture(scope="module")
def packer(office: BackOfficeSite) -> Person:
    return staff_member(office.service, office.url, "warehouse")


def path_of(placed: dict[str, Any]) -> str:
    return f"/order/{placed['order_reference']}"


def dispatch(person: Person, placed: dict[str, Any], **fields: str) -> None:
    found = fields_of(person.get(f"{path_of(placed)}/dispatch"))
    person.sends(f"{path_of(placed)}/dispatch", found | {name.replace("__", "-"): v for name, v in fields.items()})


def open_return(person: Person, placed: dict[str, Any], **fields: str) -> str:
    found = fields_of(person.get(f"{path_of(placed)}/return"), where=lambda name: not name.endswith("known"))
    sent = found | {"reason": "Broken"} | {name.replace("__", "-"): value for name, value in fields.items()}
    response = person.send(f"{path_of(placed)}/return", sent)
    assert response.status_code == 303, text_of(response)
    return str(response.headers["Location"])


def test_the_picking_list_and_the_packing_slip_are_shown_as_pdf(packer: Person, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 2)])
    assert "/picking-list" in packer.get(path_of(placed)).text
    dispatch(packer, placed, items__0__quantity="1", tracking_number="T-1")
    page = packer.get(path_of(placed)).text
    link = next(part.split('"')[0] for part in page.split('href="') if "/packing-slip?shipment=" in part)
    for path in (f"{path_of(placed)}/picking-list", link):
        found = packer.get(path)
        assert found.headers["Content-Type"] == "application/pdf"
        assert found.headers["Content-Disposition"].startswith("inline")
        assert found.content.startswith(b"%PDF")
    assert packer.get("/order/ORD-1/picking-list").status_code == 404


def test_a_picking_list_of_nothing_is_explained(packer: Person, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 1)])
    dispatch(packer, placed)
    found = packer.get(f"{path_of(placed)}/picking-list")
    assert found.status_code == 409
    assert found.headers["Content-Type"].startswith("text/html")


def test_tracking_events_are_shown_with_their_shipment(packer: Person, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 1)])
    assert "Add tracking" not in text_of(packer.get(path_of(placed)))
    dispatch(packer, placed, tracking_number="T-7")
    path = f"{path_of(placed)}/tracking"
    assert '<option value="T-7">' in packer.get(path).text
    page = text_of(
        packer.sends(
            path,
            {"type": "Delivered", "description": "Left <b>here</b>", "locality": "Hull", "date": "2026-06-17T14:05"},
        )
    )
    for part in ("The tracking event is added.", "17 Jun 2026, 14:05", "Delivered", "Left <b>here</b>", "Hull"):
        assert part in page
    rejected = packer.send(path, {"type": "", "description": "x", "date": "tomorrow"})
    assert rejected.status_code == 400
    assert "form-type" in rejected.text
    rejected = packer.send(path, {"type": "x", "description": "y", "tracking_number": "T-0"})
    assert rejected.status_code == 400
    assert "form-tracking_number" in rejected.text


def test_a_packing_video_is_set(packer: Person, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 1)])
    video = {"video_file": "https://v.example/1.mp4", "streaming_playlist": "https://v.example/1.m3u8"}
    page = packer.sends(f"{path_of(placed)}/video", video)
    assert 'href="https://v.example/1.mp4"' in page.text
    rejected = packer.send(f"{path_of(placed)}/video", video | {"video_file": "javascript:alert(1)"})
    assert rejected.status_code == 400
    assert "javascript" not in packer.get(path_of(placed)).text


def test_an_order_is_invoiced_in_part_and_then_whole(office: BackOfficeSite, sam: Person, customer: Customer) -> None:
    finance = staff_member(office.service, office.url, "finance")
    placed = buy(customer, [("PHONE", 3)])
    dispatch(sam, placed, items__0__quantity="2")
    path = f"{path_of(placed)}/invoice"
    asked = text_of(finance.get(path))
    assert "2 \u00d7 PHONE" in asked
    assert "1 unit is still to be dispatched" in asked
    early = finance.send(path, NOTHING)
    assert early.status_code == 409
    assert "still to be dispatched" in text_of(early)
    page = finance.sends(path, {"part": "true"})
    assert "is issued" in text_of(page)
    dispatch(sam, placed)
    page = finance.sends(path, NOTHING)
    assert "Invoiced" in text_of(page)
    assert len(rows(office.service, "select 1 from invoice where order_id = %s", placed["order_id"])) == 2


def test_the_next_step_of_an_order_is_its_main_button(sam: Person, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 1)])
    assert f'class="button main" href="{path_of(placed)}/dispatch"' in sam.get(path_of(placed)).text
    dispatch(sam, placed)
    page = sam.get(path_of(placed)).text
    assert f'class="button main" href="{path_of(placed)}/invoice"' in page
    assert "/amend" not in page
    assert f'href="{path_of(placed)}/return"' in page


def test_what_a_role_may_not_do_is_not_shown_and_is_rejected(
    office: BackOfficeSite, packer: Person, customer: Customer
) -> None:
    support = staff_member(office.service, office.url, "support")
    placed = buy(customer, [("PHONE", 1)])
    dispatch(packer, placed)
    for person, path in ((packer, "invoice"), (packer, "return"), (support, "invoice")):
        assert f"{path_of(placed)}/{path}" not in person.get(path_of(placed)).text
        assert person.get(f"{path_of(placed)}/{path}").status_code == 403
        assert person.send(f"{path_of(placed)}/{path}", {"reason": "x"}).status_code == 403


def test_a_return_is_opened_with_ticked_serial_numbers(sam: Person, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 3)])
    dispatch(sam, placed, items__0__serials="SN-1\nSN-2\nSN-3")
    where = open_return(sam, placed, items__0__known="SN-2")
    page = text_of(sam.get(where))
    for part in ("RMA-", "SN-2", "Broken", "Open", "PHONE"):
        assert part in page
    assert "SN-1" not in page
    assert where.removeprefix("/return/") in text_of(sam.get(path_of(placed)))
    nothing = sam.send(f"{path_of(placed)}/return", {"reason": "x"})
    assert nothing.status_code == 400
    assert "how many units come back" in text_of(nothing)
    many = sam.send(f"{path_of(placed)}/return", fields_of(sam.get(f"{path_of(placed)}/return")) | {
        "items-0-quantity": "3", "reason": "x"})  # fmt: skip
    assert many.status_code == 400


def test_returned_units_are_restocked_or_scrapped_and_credited_at_once(
    office: BackOfficeSite, sam: Person, packer: Person, customer: Customer
) -> None:
    sku = sell(office.service, "RETURNED", 10, available=5)
    placed = buy(customer, [(sku, 3)])
    dispatch(sam, placed)
    sam.sends(f"{path_of(placed)}/invoice", NOTHING)
    where = open_return(sam, placed, items__0__quantity="3")
    receiving = packer.get(f"{where}/receive")
    assert "credit" not in fields_of(receiving)
    assert packer.send(f"{where}/receive", fields_of(receiving) | {"credit": "true"}).status_code == 403
    fields = fields_of(sam.get(f"{where}/receive"))
    assert (fields["items-0-restock"], fields["credit"]) == ("3", "true")
    too_many = sam.send(f"{where}/receive", fields | {"items-0-scrap": "1"})
    assert too_many.status_code == 400
    assert "has 3 expected units, not 4" in text_of(too_many)
    page = text_of(sam.confirms(f"{where}/receive", fields | {"items-0-restock": "1", "items-0-scrap": "1"}))
    assert "2 of 3 units are received." in page
    assert "Credit notes" in page
    assert level(office.service, sku)[0] == 3
    page = text_of(sam.confirms(f"{where}/receive", fields_of(sam.get(f"{where}/receive"))))
    assert "All units are received." in page
    assert "Closed" in page
    assert packer.get(f"{where}/receive").status_code == 409
    credited = rows(office.service, "select credited from orders where id = %s", placed["order_id"])
    assert credited == [(Decimal("36.00"),)]


def test_receiving_shows_what_is_credited_before_it_is(sam: Person, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 2)])
    dispatch(sam, placed)
    sam.sends(f"{path_of(placed)}/invoice", NOTHING)
    where = open_return(sam, placed, items__0__quantity="2")
    fields = fields_of(sam.get(f"{where}/receive"))
    shown = sam.send(f"{where}/receive", fields)
    assert "Receive them and credit £120.00" in text_of(shown)
    other = sam.send(f"{where}/receive", fields | {"items-0-restock": "1"} | sam.shown(shown))
    assert (other.status_code, "Receive them and credit £60.00" in text_of(other)) == (200, True)
    assert "Nothing" not in text_of(sam.get(where))
    assert "All units are received." in text_of(sam.sends(f"{where}/receive", fields | sam.shown(shown)))


def test_a_credit_note_is_prefilled_with_what_came_back_and_closes_the_return(
    office: BackOfficeSite, sam: Person, packer: Person, customer: Customer
) -> None:
    placed = buy(customer, [("PHONE", 3), ("CABLE", 2)])
    dispatch(sam, placed)
    sam.sends(f"{path_of(placed)}/invoice", NOTHING)
    where = open_return(sam, placed, items__0__quantity="1", items__1__quantity="2")
    given = fields_of(packer.get(f"{where}/receive")) | {"items-0-restock": "1", "items-1-restock": "2"}
    packer.sends(f"{where}/receive", given)
    fran = staff_member(office.service, office.url, "finance")
    page = fran.get(where)
    assert "To credit" in text_of(page)
    link = next(part.split('"')[0] for part in page.text.split('href="') if "/credit-note?return=" in part)
    form = fran.get(link)
    fields = fields_of(form)
    number = where.removeprefix("/return/")
    assert f"Filled in with what came back with {number}." in text_of(form)
    assert f"Return {number}: Broken" in text_of(form)
    assert [fields[f"lines-{n}-quantity"] for n in range(3)] == ["1", "2", ""]
    path, fields = link.partition("?")[0], fields | {"reason": "Came back"}
    fran.confirms(path, fields | {"lines-1-quantity": "1"})
    assert "Received" in text_of(fran.get(where)), "a credit of a part leaves it open"
    rest = fields_of(fran.get(link))
    assert [rest[f"lines-{n}-quantity"] for n in range(2)] == ["", "1"]
    fran.confirms(path, rest | {"reason": "The rest"})
    closed = fran.get(where)
    assert "Closed" in text_of(closed)
    assert "/credit-note?return=" not in closed.text
    assert "Nothing that came back" in text_of(fran.get(link))
    assert fran.get(f"{path}?return=RMA-999999").status_code == 404


def test_finance_closes_a_return(office: BackOfficeSite, sam: Person, packer: Person, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 2)])
    dispatch(sam, placed)
    sam.sends(f"{path_of(placed)}/invoice", NOTHING)
    where = open_return(sam, placed, items__0__quantity="2")
    packer.sends(f"{where}/receive", fields_of(packer.get(f"{where}/receive")))
    fran = staff_member(office.service, office.url, "finance")
    assert f'href="{where}/close"' in fran.get(where).text
    assert "2 units that came back are not credited" in text_of(fran.get(f"{where}/close"))
    assert "The return is closed." in text_of(fran.sends(f"{where}/close", NOTHING))
    found = rows(
        office.service,
        "select action, after ->> 'state' from audit_entry where actor_kind = 'staff' and actor_id = %s",
        str(fran.id),
    )
    assert found == [("return.close", "closed")]


def test_units_may_be_received_without_a_credit_note_and_the_return_closed(
    sam: Person, packer: Person, customer: Customer
) -> None:
    placed = buy(customer, [("PHONE", 2)])
    dispatch(sam, placed)
    sam.sends(f"{path_of(placed)}/invoice", NOTHING)
    where = open_return(sam, placed, items__0__quantity="2")
    item = fields_of(packer.get(f"{where}/receive"))["items-0-id"]
    packer.sends(f"{where}/receive", {"items-0-id": item, "items-0-restock": "1", "items-0-scrap": "0"})
    assert packer.get(f"{where}/close").status_code == 403
    asked = text_of(sam.get(f"{where}/close"))
    assert "1 unit that has not come back is no longer expected" in asked
    page = text_of(sam.sends(f"{where}/close", NOTHING))
    assert "The return is closed." in page
    assert sam.get(f"{where}/close").status_code == 409
    assert sam.send(f"{where}/close", NOTHING).status_code == 409


@pytest.mark.sweep
def test_returns_are_listed_by_state_and_as_a_file(sam: Person, customer: Customer) -> None:
    placed = buy(customer, [("CABLE", 60)])
    dispatch(sam, placed)
    numbers = [
        open_return(sam, placed, items__0__quantity="1", reason="=1+1").removeprefix("/return/") for _ in range(52)
    ]
    first = sam.get("/return").text
    assert numbers[-1] in first
    assert numbers[0] not in first
    following = first.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
    assert numbers[0] in sam.get(following).text
    sam.sends(f"/return/{numbers[0]}/close", NOTHING)
    assert numbers[0] in sam.get("/return?state=closed").text
    file = sam.get("/return?state=all&format=csv").text
    assert file.startswith("number,order,customer_id")
    assert f"{numbers[5]}," in file
    assert "'=1+1" in file
    assert sam.get("/return/RMA-999999").status_code == 404
    assert "<Sons>" not in first


def test_a_tracking_number_and_a_carrier_are_corrected(shop: Service, packer: Person, customer: Customer) -> None:
    placed = buy(customer)
    dispatch(packer, placed, tracking_number="WRONG")
    path = f"{path_of(placed)}/shipment/{shipments(shop, placed)[0]}"
    assert f'href="{path}"' in packer.get(path_of(placed)).text
    fields = fields_of(packer.get(path))
    assert (fields["tracking_number"], fields["carrier"]) == ("WRONG", "")
    page = text_of(packer.sends(path, fields | {"tracking_number": "RIGHT", "carrier": "<b>Van</b>"}))
    for part in ("The shipment is corrected.", "RIGHT", "<b>Van</b>", "corrected a shipment"):
        assert part in page
    rejected = packer.send(path, fields | {"tracking_number": "x" * 101})
    assert rejected.status_code == 400
    assert "form-tracking_number-error" in rejected.text
    page = text_of(packer.sends(path, fields_of(packer.get(path)) | {"tracking_number": "", "carrier": ""}))
    assert "RIGHT" not in page


def test_a_shipment_is_taken_back_until_it_is_invoiced(shop: Service, packer: Person, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 2)])
    dispatch(packer, placed, tracking_number="STAYED")
    path = f"{path_of(placed)}/shipment/{shipments(shop, placed)[0]}/take-back"
    form = packer.get(path)
    for part in ("PHONE", "STAYED", "never left"):
        assert part in text_of(form)
    rejected = packer.send(path, fields_of(form) | {"reason": "  "})
    assert rejected.status_code == 400
    assert 'href="#form-reason"' in rejected.text
    page = text_of(packer.sends(path, fields_of(form) | {"reason": "The van was full"}))
    for part in (
        "The shipment is taken back.",
        "Awaiting dispatch",
        "Nothing is dispatched yet",
        "took a shipment back",
    ):
        assert part in page
    for again in (packer.get(path), packer.send(path, {"reason": "x"})):
        assert again.status_code == 409
        assert "was taken back" in text_of(again)
    assert packer.get(f"{path_of(placed)}/shipment/999999").status_code == 404
    dispatch(packer, placed)
    issue_part(shop, placed)
    [shipment] = shipments(shop, placed)
    page_then = packer.get(path_of(placed)).text
    assert f"/shipment/{shipment}/take-back" not in page_then
    assert f'/shipment/{shipment}"' in page_then
    late = packer.send(f"{path_of(placed)}/shipment/{shipment}/take-back", {"reason": "x"})
    assert (late.status_code, "is on invoice" in text_of(late)) == (409, True)
