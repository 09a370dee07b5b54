"""Requests about orders: to cancel, to return, and messages; and what staff answer."""

import re

import httpx2
import pytest

from support.backoffice import BackOfficeSite
from support.events import events
from support.images import png
from support.mail import deliver_mail, html, plain
from support.orders import buy, dispatch, rows
from support.pages import Person, customer_user, fields_of, staff_member, text_of
from support.people import disable
from support.service import Customer, Service


@pytest.fixture(scope="module")
def sam(office: BackOfficeSite) -> Person:
    return staff_member(office.service, office.url, "support", name="Sam Porter")


@pytest.fixture
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer(company="Asking & <Sons>")


@pytest.fixture
def buyer(office: BackOfficeSite, customer: Customer) -> Person:
    return customer_user(office.service, customer.id, "buyer")


def path_of(order: dict[str, object], kind: str) -> str:
    return f"/account/order/{order['order_reference']}/ask/{kind}"


def ask(person: Person, order: dict[str, object], kind: str, quantity: str = "", text: str = "") -> str:
    """Send a request with units of the first line; what the next page says."""
    path = path_of(order, kind)
    fields = {name: value for name, value in fields_of(person.get(path)).items() if name.endswith("-id")}
    return text_of(person.sends(path, {**fields, "items-0-quantity": quantity, "text": text}))


def request_id(service: Service, order: dict[str, object]) -> int:
    found = "select max(r.id) from customer_request r join orders o on o.id = r.order_id where o.order_reference = %s"
    [(number,)] = rows(service, found, order["order_reference"])
    return int(number)


def test_a_user_asks_to_cancel_and_gets_an_answer(
    office: BackOfficeSite, sam: Person, customer: Customer, buyer: Person
) -> None:
    shop = office.service
    order = buy(customer, [("PHONE", 5)])
    said = ask(buyer, order, "cancel", "2", "Two too <many>")
    for text in ("We have your request.", "To cancel", "2 \u00d7 PHONE", "Two too <many>"):
        assert text in said, text
    number = request_id(shop, order)
    assert "1 request to answer" in text_of(sam.get("/"))
    assert "Asking & <Sons>" in text_of(sam.get("/request"))
    assert "Requests of the customer" in text_of(sam.get(f"/order/{order['order_reference']}"))
    of_customer = sam.get(f"/customer/{customer.id}")
    assert "Requests to answer To cancel" in text_of(of_customer)
    assert f'href="/request/{number}"' in of_customer.text
    page = sam.get(f"/request/{number}")
    for text in (
        "To cancel: ",
        "2 \u00d7 PHONE",
        "Two too <many>",
        buyer.email,
        "Cancel units",
        "Awaiting dispatch",
        "Nothing is dispatched yet.",
    ):
        assert text in text_of(page), text
    assert "<many>" not in page.text
    assert sam.send(f"/request/{number}/answer", {"text": " "}).status_code == 400
    assert "the answer sent" in text_of(sam.sends(f"/request/{number}/answer", {"text": " Two are cancelled. "}))
    assert "Requests to answer" not in text_of(sam.get(f"/customer/{customer.id}"))
    assert "Answer: Two are cancelled." in text_of(buyer.get(f"/account/order/{order['order_reference']}"))
    again = sam.send(f"/request/{number}/answer", {"text": "Again"})
    assert again.status_code == 409
    assert ",Two are cancelled.\r\n" in sam.get("/request?state=closed&format=csv").text


def test_a_user_asks_to_cancel_all_that_is_left(office: BackOfficeSite, customer: Customer, buyer: Person) -> None:
    order = buy(customer, [("PHONE", 5), ("CABLE", 3)])
    dispatch(office.service, order, (order["items"][0]["id"], 2))
    path = path_of(order, "cancel")
    assert "All that is left, 6 units" in text_of(buyer.get(path))
    assert "We have your request." in text_of(buyer.sends(path, {"everything": "true"}))
    [(items,)] = rows(
        office.service, "select items from customer_request where id = %s", request_id(office.service, order)
    )
    assert [(item["sku"], item["quantity"]) for item in items] == [("PHONE", 3), ("CABLE", 3)]
    assert "All that" not in text_of(buyer.get(path_of(order, "return")))


def test_both_sides_get_mails(office: BackOfficeSite, sam: Person, customer: Customer, buyer: Person) -> None:
    shop = office.service
    order = buy(customer)
    ask(buyer, order, "message", text="Where is <it>?")
    number = request_id(shop, order)
    subject = f"Message: {order['order_reference']}, Asking & <Sons>"
    [told] = [mail for mail in deliver_mail(shop, backoffice_url=office.url) if mail["Subject"] == subject]
    assert told["Reply-To"] == buyer.email
    assert f"/request/{number}" in plain(told)
    assert "Where is <it>?" in plain(told)
    assert "Where is &lt;it&gt;?" in html(told)
    sam.sends(f"/request/{number}/answer", {"text": "On its way."})
    subject = f"Your request about {order['order_reference']}"
    [answer] = [mail for mail in deliver_mail(shop) if mail["Subject"] == subject]
    assert [address.addr_spec for address in answer["To"].addresses] == [buyer.email]
    assert "On its way." in plain(answer)
    assert "On its way." in html(answer)


def test_requests_are_events_and_in_the_audit_log(
    office: BackOfficeSite, sam: Person, customer: Customer, buyer: Person
) -> None:
    order = buy(customer, [("PHONE", 2)])
    ask(buyer, order, "cancel", "1")
    sam.sends(f"/request/{request_id(office.service, order)}/answer", {"text": "Done."})
    found = [event for event in events(office.service, customer) if event["type"].startswith("request.")]
    assert [event["type"] for event in found] == ["request.opened", "request.closed"]
    assert found[0]["data"]["items"][0]["quantity"] == 1
    assert "answer" not in found[1]["data"]  # the log is kept for ever
    entries = "select action, actor_name from audit_entry where subject = %s and action like 'request.%%' order by id"
    audited = rows(office.service, entries, f"order/{order['order_reference']}")
    assert [action for action, _ in audited] == ["request.open", "request.close"]


def test_dispatched_units_are_asked_back(
    office: BackOfficeSite, sam: Person, customer: Customer, buyer: Person
) -> None:
    order = buy(customer, [("PHONE", 3)])
    page = f"/account/order/{order['order_reference']}"
    assert "Ask to return" not in text_of(buyer.get(page))
    dispatch(office.service, order)
    said = text_of(buyer.get(page))
    assert "Ask to return" in said
    assert "Ask to cancel" not in said
    assert "3 \u00d7 PHONE" in ask(buyer, order, "return", "3", "Broken")
    number = request_id(office.service, order)
    assert "Open a return" in text_of(sam.get(f"/request/{number}"))


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    ("kind", "quantity", "text"),
    [
        ("cancel", "0", ""),
        ("cancel", "", "Nothing named"),
        ("cancel", "6", ""),
        ("cancel", "-1", ""),
        ("cancel", "x", ""),
        ("return", "1", "Not dispatched"),
        ("message", "", ""),
        ("message", "", "\u00a0"),
        ("message", "", "x" * 5001),
    ],
)
def test_what_cannot_be_asked_is_an_error_and_stores_nothing(
    office: BackOfficeSite, customer: Customer, buyer: Person, kind: str, quantity: str, text: str
) -> None:
    order = buy(customer, [("PHONE", 5)])
    [(line,)] = rows(
        office.service,
        "select l.id from order_line l join orders o on o.id = l.order_id where o.order_reference = %s",
        order["order_reference"],
    )
    fields = {"items-0-id": str(line), "items-0-quantity": quantity, "text": text}
    assert buyer.send(path_of(order, kind), fields).status_code == 400
    assert "Message" not in text_of(buyer.get(f"/account/order/{order['order_reference']}")).split("Ask us")[1]


def test_a_line_is_named_once(customer: Customer, buyer: Person) -> None:
    path = path_of(buy(customer, [("PHONE", 5)]), "cancel")
    line = fields_of(buyer.get(path))["items-0-id"]
    twice = {f"items-{n}-{name}": value for n in range(2) for name, value in (("id", line), ("quantity", "5"))}
    rejected = buyer.send(path, twice)
    assert rejected.status_code == 400
    assert "named twice" in text_of(rejected)


def test_lines_of_other_orders_and_orders_of_others_cannot_be_asked_about(
    office: BackOfficeSite, customer: Customer, buyer: Person
) -> None:
    own, other = buy(customer, [("PHONE", 5)]), buy(office.service.customer(), [("PHONE", 5)])
    [(line,)] = rows(
        office.service,
        "select l.id from order_line l join orders o on o.id = l.order_id where o.order_reference = %s",
        other["order_reference"],
    )
    fields = {"items-0-id": str(line), "items-0-quantity": "1", "text": "x"}
    assert buyer.send(path_of(own, "cancel"), fields).status_code == 400
    for kind in ("cancel", "message"):
        assert buyer.get(path_of(other, kind)).status_code == 404
        assert buyer.send(path_of(other, kind), fields).status_code == 404
    assert buyer.get(path_of(own, "destroy")).status_code == 404


def test_only_staff_who_may_change_orders_answer(office: BackOfficeSite, customer: Customer, buyer: Person) -> None:
    order = buy(customer)
    ask(buyer, order, "message", text="Hello")
    number = request_id(office.service, order)
    for role, sees_total in (("warehouse", False), ("finance", True), ("catalogue", False)):
        person = staff_member(office.service, office.url, role)
        assert person.send(f"/request/{number}/answer", {"text": "x"}).status_code == 403
        page = person.get(f"/request/{number}").text
        assert "Send and close" not in page
        assert ("£" in page) == sees_total


def test_a_disabled_user_gets_no_answer_but_the_account_does(
    office: BackOfficeSite, sam: Person, customer: Customer, buyer: Person
) -> None:
    order = buy(customer)
    ask(buyer, order, "message", text="Where is it?")
    disable(office.service, buyer.email)
    deliver_mail(office.service)
    sam.sends(f"/request/{request_id(office.service, order)}/answer", {"text": "On its way."})
    [answer] = [mail for mail in deliver_mail(office.service) if "On its way." in plain(mail)]
    [(account,)] = rows(office.service, "select email_address from customer where id = %s", customer.id)
    assert answer["To"] == account


def test_there_is_a_limit_to_open_requests(office: BackOfficeSite, customer: Customer, buyer: Person) -> None:
    order = buy(customer)
    many = (
        "insert into customer_request (kind, order_id, items, text, opened_at) select 'message', o.id, '[]', 'x', now()"
        " from orders o, generate_series(1, 50) where o.order_reference = %s returning id"
    )
    rows(office.service, many, order["order_reference"])
    rejected = buyer.send(path_of(order, "message"), {"text": "One more"})
    assert rejected.status_code == 409
    assert "give us some time" in text_of(rejected)


def send_files(
    person: Person,
    order: dict[str, object],
    *contents: bytes,
    name: str = "photo.png",
    text: str = "Look",
    once: str = "",
) -> httpx2.Response:
    """Ask with files."""
    names = ("file_one", "file_two", "file_three")
    return person.http.post(
        path_of(order, "message"),
        data={"once": once, "text": text},
        files=[(field, (name, content)) for field, content in zip(names, contents, strict=False)],
        headers={"Sec-Fetch-Site": "same-origin"},
    )


def test_pictures_of_a_request_are_seen_by_support_and_by_the_customer(
    office: BackOfficeSite, sam: Person, customer: Customer, buyer: Person
) -> None:
    order, picture = buy(customer), png(3, 3)
    name = "../My <broken> phone.gif"
    assert send_files(buyer, order, picture, b"%PDF-1.7 x", name=name).status_code == 303
    page = sam.get(f"/request/{request_id(office.service, order)}")
    [first, second] = re.findall(r'href="(/request/file/[0-9]+)"', page.text)
    assert f'<img src="{first}"' in page.text
    assert f'<img src="{second}"' not in page.text
    found = sam.get(first)
    assert found.content == picture
    assert found.headers["Content-Type"] == "image/png"
    assert found.headers["Content-Disposition"] == 'attachment; filename="My-broken-phone.png"'
    assert found.headers["X-Content-Type-Options"] == "nosniff"
    own = buyer.get(f"/account/order/{order['order_reference']}")
    [address, _] = re.findall(r'href="(/account/order/[^"]*/file/[0-9]+)"', own.text)
    assert buyer.get(address).content == picture
    other = buy(customer)
    assert buyer.get(address.replace(order["order_reference"], other["order_reference"])).status_code == 404
    stranger = customer_user(office.service, office.service.customer().id, "buyer")
    assert stranger.get(address).status_code == 404
    assert staff_member(office.service, office.url, "catalogue").get(first).status_code == 403


def test_a_form_that_is_sent_twice_asks_once_and_with_another_file_again(
    office: BackOfficeSite, customer: Customer, buyer: Person
) -> None:
    order, once = buy(customer), "a-form-with-a-file"
    for picture, asked in ((png(3, 3), 1), (png(3, 3), 1), (png(4, 4), 2)):
        assert send_files(buyer, order, picture, once=once).status_code == 303
        found = rows(
            office.service,
            "select r.id from customer_request r join orders o on o.id = r.order_id where o.order_reference = %s",
            order["order_reference"],
        )
        assert len(found) == asked


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "must be a picture"),
        (b"GIF89a" + bytes(20), "must be a picture"),
        (b"", "must be a picture"),
        (png(1, 1) + bytes(5 * 1024 * 1024), "is longer than 5 MB"),
    ],
)
def test_other_files_are_rejected_beside_their_field(
    office: BackOfficeSite, customer: Customer, buyer: Person, content: bytes, said: str
) -> None:
    order = buy(customer)
    answer = send_files(buyer, order, content)
    assert answer.status_code == 400
    assert f"Picture 1 {said}" in text_of(answer)
    assert rows(
        office.service,
        "select count(*) from customer_request r join orders o on o.id = r.order_id where order_reference = %s",
        order["order_reference"],
    ) == [(0,)]


def test_files_that_browsers_do_not_keep_are_asked_for_again(customer: Customer, buyer: Person) -> None:
    page = send_files(buyer, buy(customer), png(3, 3), text="")
    assert page.status_code == 400
    assert 'class="folded" open' in page.text
    assert text_of(page).count("Choose it again: browsers do not keep files.") == 1


def test_a_form_without_units_to_ask_for_leads_to_the_one_for_a_message(customer: Customer, buyer: Person) -> None:
    order = buy(customer)
    page = buyer.get(path_of(order, "return"))
    assert "There is nothing to return." in text_of(page)
    assert f'href="{path_of(order, "message")}"' in page.text


def test_another_file_of_the_same_name_and_size_is_not_the_same_form_again(
    office: BackOfficeSite, customer: Customer, buyer: Person
) -> None:
    order = buy(customer)
    fields = fields_of(buyer.get(path_of(order, "message")), where=lambda name: name == "once") | {"text": "Look"}
    blurred, sharp = b"%PDF-1.7 blurred", b"%PDF-1.7 sharp!!"
    assert len(blurred) == len(sharp)
    for content in (blurred, blurred, sharp):
        answer = buyer.http.post(
            path_of(order, "message"),
            data=fields,
            files={"file_one": ("photo.pdf", content)},
            headers={"Sec-Fetch-Site": "same-origin"},
        )
        assert answer.status_code == 303
    sent = rows(
        office.service,
        "select f.content from request_file f join customer_request r on r.id = f.request_id"
        " join orders o on o.id = r.order_id where o.order_reference = %s order by f.id",
        order["order_reference"],
    )
    assert [bytes(content) for (content,) in sent] == [blurred, sharp]


def test_more_than_three_files_or_too_many_bytes_are_rejected(customer: Customer, buyer: Person) -> None:
    order = buy(customer)
    whole = bytes(5 * 1024 * 1024 + 1)
    assert send_files(buyer, order, png(1, 1) + whole, whole, whole).status_code in {400, 413}
    names = [(f"file_{n}", ("a.png", png(1, 1))) for n in range(4)]
    headers = {"Sec-Fetch-Site": "same-origin"}
    answer = buyer.http.post(path_of(order, "message"), data={"text": "x"}, files=names, headers=headers)
    assert answer.status_code == 400
