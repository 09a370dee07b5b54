"""The desk of quotes: staff price, decline and confirm them on pages."""

import re
from datetime import timedelta
from typing import Any

import pytest

from support.backoffice import BackOfficeSite
from support.orders import at, rows
from support.pages import Person, fields_of, staff_member, text_of
from support.quotes import price_as_support, request_quote
from support.service import Customer, Service
from support.shop import GERMAN_ADDRESS, NEXT_DAY, STANDARD, price, product


@pytest.fixture(scope="module")
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer(company="Bright & <Sons>")


@pytest.fixture(scope="module")
def support(office: BackOfficeSite) -> Person:
    return staff_member(office.service, office.url, "support")


@pytest.fixture(scope="module", autouse=True)
def known_costs(shop: Service) -> None:
    """Two products whose purchase costs are known."""
    rows_ = [product("DESK", purchase_cost="60.00"), product("LEAD", purchase_cost="1.00")]
    shop.must_load("products", rows_)
    shop.must_load("price-list", [price("DESK", 100), price("LEAD", 2)])
    shop.refresh()


def path_of(quote: dict[str, Any]) -> str:
    return f"/quote/{quote['confirmation_code']}"


def fields(person: Person, quote: dict[str, Any], **more: str) -> dict[str, str]:
    found = fields_of(person.get(path_of(quote)))
    return found | {name.replace("__", "-"): value for name, value in more.items()}


def unit_costs(service: Service, quote: dict[str, Any]) -> list[tuple[str, str]]:
    found = rows(
        service,
        "select sku, unit_cost::text from order_line l join orders o on o.id = l.order_id"
        " where o.confirmation_code = %s order by l.position",
        quote["confirmation_code"],
    )
    return [(sku, cost) for sku, cost in found]


def test_the_desk_lists_waiting_quotes_oldest_first(
    office: BackOfficeSite, support: Person, customer: Customer
) -> None:
    now = office.service.clock.now()
    later = request_quote(customer, customer_reference="LATER")
    with at(office.service, now - timedelta(days=2)):
        first = request_quote(customer, customer_reference="FIRST <i>")
    priced = request_quote(customer, customer_reference="PRICED")
    price_as_support(office.service, priced, ("PHONE", "45.00"))
    page = support.get("/quote").text
    assert page.index("FIRST &lt;i&gt;") < page.index("LATER")
    assert "PRICED" not in page
    assert "2 days ago" in page
    assert "PRICED" in support.get("/quote?view=priced").text
    everything = support.get("/quote?view=all").text
    assert path_of(later) in everything
    assert path_of(first) in everything
    assert "No quote is in this state." in text_of(support.get("/quote?view=declined"))
    assert support.get("/quote?view=odd").status_code == 400
    file = support.get("/quote?view=all&format=csv").text
    assert f"{priced['confirmation_code']},{customer.id}" in file


def test_each_quote_is_listed_with_its_state(office: BackOfficeSite, support: Person, customer: Customer) -> None:
    now = office.service.clock.now()
    with at(office.service, now - timedelta(days=30)):
        expired = request_quote(customer, customer_reference="OVER")
        price_as_support(office.service, expired, ("PHONE", "45.00"))
    declined = request_quote(customer, customer_reference="NEVER")
    support.sends(f"{path_of(declined)}/decline", {"reason": "No"})
    request_quote(customer, customer_reference="OPEN")
    found = dict(re.findall(r">(OVER|NEVER|OPEN)</a>.*?<span class=\"badge \w+\">(\w+)<", one_line(support, "all")))
    assert found == {"OVER": "Expired", "NEVER": "Declined", "OPEN": "Waiting"}
    for view, reference in (("expired", "OVER"), ("declined", "NEVER")):
        assert reference in one_line(support, view)
    for view in ("waiting", "priced", "ordered"):
        assert "OVER" not in one_line(support, view)


def one_line(person: Person, view: str) -> str:
    return re.sub(r"\s+", " ", person.get(f"/quote?view={view}").text)


def test_pages_of_the_desk_have_every_quote_once(office: BackOfficeSite, support: Person) -> None:
    customer = office.service.customer()
    asked = {path_of(request_quote(customer, customer_reference=f"N{n}")) for n in range(53)}
    for view in ("waiting", "all"):
        seen: list[str] = []
        address = f"/quote?view={view}"
        while address:
            page = support.get(address).text
            seen += [
                f"/quote/{part.split(chr(34))[0]}" for part in page.split('data-label="Quote"><a href="/quote/')[1:]
            ]
            following = page.split('rel="next" href="')[1:]
            address = following[0].split('"')[0].replace("&amp;", "&") if following else ""
        assert len(seen) == len(set(seen))
        assert asked <= set(seen)


def test_a_quote_shows_list_price_cost_and_margin(support: Person, customer: Customer) -> None:
    quote = request_quote(customer, [("DESK", 2), ("LEAD", 10)])
    text = text_of(support.get(path_of(quote)))
    for part in ("£100.00", "£60.00", "£80.00 40%", "Goods at list £220.00", "Margin £90.00 40.91%", "Waiting"):
        assert part in text
    unknown = request_quote(customer, [("PHONE", 1)])
    assert "Margin unknown" in text_of(support.get(path_of(unknown)))


def test_the_total_is_live_and_nothing_changes(office: BackOfficeSite, support: Person, customer: Customer) -> None:
    quote = request_quote(customer, [("DESK", 2), ("LEAD", 10)])
    typed = fields(support, quote, items__0__price="10%", discount="50", preview="live")
    shown = support.send(f"{path_of(quote)}/price", typed)
    assert shown.status_code == 200
    text = text_of(shown)
    for part in ("£180.00 £90.00 each 10% off", "£10.00 £1.00 each 50% off", "Goods, net £190.00", "Margin £60.00"):
        assert part in text
    assert 'value="10%"' in shown.text
    assert 'id="net-0"' in shown.text
    assert unit_costs(office.service, quote) == [("DESK", "100.00"), ("LEAD", "2.00")]
    assert "Waiting" in text
    wrong = support.send(f"{path_of(quote)}/price", typed | {"items-0-price": "cheap"})
    assert wrong.status_code == 400
    assert "form-items-0-price-error" in wrong.text


def test_a_price_below_cost_is_shown_and_needs_a_tick(
    office: BackOfficeSite, support: Person, customer: Customer
) -> None:
    quote = request_quote(customer, [("LEAD", 10), ("DESK", 2)])
    low = fields(support, quote, items__1__price="55")
    shown = text_of(support.send(f"{path_of(quote)}/price", low | {"preview": "true"}))
    assert "DESK: £55.00 is below its purchase cost of £60.00." in shown
    assert "\N{MINUS SIGN}£10.00" in shown
    rejected = support.send(f"{path_of(quote)}/price", low)
    assert rejected.status_code == 400
    assert "form-items-1-price-error" in rejected.text
    page = support.sends(f"{path_of(quote)}/price", low | {"force": "true"})
    assert "The price is sent to Bright & <Sons>." in text_of(page)
    assert unit_costs(office.service, quote) == [("LEAD", "2.00"), ("DESK", "55.00")]


def test_a_quote_is_priced_with_carriage_and_a_note(
    office: BackOfficeSite, support: Person, customer: Customer
) -> None:
    quote = request_quote(customer, [("DESK", 2)])
    page = support.get(path_of(quote)).text
    options = {fields_of(support.get(path_of(quote)))[f"shipping-{n}-id"]: n for n in range(2)}
    assert set(options) == {str(STANDARD), str(NEXT_DAY)}
    assert "Eurovan" in page
    sent = fields(support, quote, items__0__price="£80.00", note="Valid with <this> project")
    sent |= {f"shipping-{options[str(NEXT_DAY)]}-cost_net": "2.50"}
    desk = support.sends(f"{path_of(quote)}/price", sent)
    assert desk.url.path == "/quote"
    seen = text_of(support.get(path_of(quote)))
    for part in ("Priced", "Fastvan Next day (£2.50)", "Valid with <this> project", "20% off", "Send the new price"):
        assert part in seen
    [(mails,)] = rows(
        office.service,
        "select count(*) from procrastinate_jobs where task_name = 'mail_quote_priced' and args->>'order_id' ="
        " (select id::text from orders where confirmation_code = %s)",
        quote["confirmation_code"],
    )
    assert mails == 1


def test_a_way_to_ship_is_named_where_none_fits(support: Person, customer: Customer) -> None:
    quote = request_quote(customer, [("DESK", 200)], shipping_address=GERMAN_ADDRESS)
    assert "choose one and name its cost" in text_of(support.get(path_of(quote)))
    sent = fields(support, quote, method="71")
    rejected = support.send(f"{path_of(quote)}/price", sent)
    assert rejected.status_code == 400
    assert "Its cost is required with another way to ship." in text_of(rejected)
    priced = support.sends(f"{path_of(quote)}/price", sent | {"method_cost": "120"})
    assert "The price is sent" in text_of(priced)


def test_a_quote_is_declined_with_a_reason(support: Person, customer: Customer) -> None:
    quote = request_quote(customer)
    missing = support.send(f"{path_of(quote)}/decline", {"reason": ""})
    assert missing.status_code == 400
    assert "form-reason" in missing.text
    page = support.sends(f"{path_of(quote)}/decline", {"reason": "Not sold any more"})
    assert "The quote is declined." in text_of(page)
    assert "Declined" in text_of(support.get(path_of(quote)))
    history = text_of(support.get(path_of(quote))).partition("History")[2]
    assert "declined the quote" in history
    assert "(Not sold any more)" in history
    for path in ("decline", "confirm"):
        assert support.get(f"{path_of(quote)}/{path}").status_code == 409
    assert support.send(f"{path_of(quote)}/price", {"discount": "5"}).status_code == 409
    assert "/decline" not in support.get(path_of(quote)).text


def test_a_priced_quote_is_confirmed_for_its_customer(
    office: BackOfficeSite, support: Person, customer: Customer
) -> None:
    quote = request_quote(customer, [("DESK", 1)])
    early = support.send(f"{path_of(quote)}/confirm", {"shipping_method": str(STANDARD)})
    assert early.status_code == 412
    price_as_support(office.service, quote, ("DESK", "90.00"))
    assert "1 \u00d7 DESK" in text_of(support.get(f"{path_of(quote)}/confirm"))
    page = support.sends(f"{path_of(quote)}/confirm", {"shipping_method": str(STANDARD)})
    assert "The quote is now order ORD-" in text_of(page)
    assert "£90.00" in text_of(page)
    assert path_of(quote) in page.text
    ordered = support.get(path_of(quote))
    assert "Ordered" in text_of(ordered)
    assert "ORD-" in text_of(support.get("/quote?view=ordered"))


def test_a_quote_is_confirmed_for_its_customer_only_at_the_price_that_was_shown(
    office: BackOfficeSite, support: Person, customer: Customer
) -> None:
    quote = request_quote(customer, [("DESK", 1)])
    price_as_support(office.service, quote, ("DESK", "90.00"))
    path = f"{path_of(quote)}/confirm"
    shown = fields_of(support.get(path)) | {"shipping_method": str(STANDARD)}
    price_as_support(office.service, quote, ("DESK", "80.00"))
    rejected = support.send(path, shown)
    assert rejected.status_code == 409
    assert "It was priced again, and costs £102.60 with VAT and shipping now" in text_of(rejected)
    again = fields_of(rejected) | {"shipping_method": str(STANDARD)}
    assert "The quote is now order ORD-" in text_of(support.sends(path, again))


def test_roles_see_and_do_what_they_may(office: BackOfficeSite, customer: Customer) -> None:
    quote = request_quote(customer, [("DESK", 1)])
    finance = staff_member(office.service, office.url, "finance")
    packer = staff_member(office.service, office.url, "warehouse")
    page = finance.get(path_of(quote))
    assert page.status_code == 200
    assert "<form" not in page.text.split("<main")[1]
    assert finance.send(f"{path_of(quote)}/price", {"discount": "5"}).status_code == 403
    for path in ("/quote", path_of(quote)):
        assert packer.get(path).status_code == 403
    assert "Quotes" not in text_of(packer.get("/return"))


def test_an_unknown_quote_is_not_found(support: Person) -> None:
    assert support.get(f"/quote/{'0' * 32}").status_code == 404
    assert support.send(f"/quote/{'0' * 32}/price", {"discount": "5"}).status_code == 404
    assert support.get("/quote/%00").status_code == 404


def test_markup_in_a_quote_is_escaped(support: Person, customer: Customer) -> None:
    quote = request_quote(customer, [("DESK", 1)], customer_reference="<script>1</script>")
    for path in (path_of(quote), "/quote", f"{path_of(quote)}/decline"):
        page = support.get(path).text
        assert "<script>1" not in page
        assert "<Sons>" not in page


def test_quotes_are_sorted_by_the_time_of_the_request(office: BackOfficeSite, sam: Person) -> None:
    customer = office.service.customer(company="Sorted quotes")
    codes = []
    for hours in range(3):
        with at(office.service, office.service.clock.now() + timedelta(hours=hours)):
            codes.append(request_quote(customer)["confirmation_code"])
    for address, expected in (
        ("/quote?view=all&sort=created&format=csv", codes),
        ("/quote?view=all&sort=-created&format=csv", codes[::-1]),
        ("/quote?view=all&format=csv", codes[::-1]),
        ("/quote?format=csv", codes),
    ):
        listed = [line.partition(",")[0] for line in sam.get(address).text.splitlines()]
        assert [code for code in listed if code in codes] == expected, address
