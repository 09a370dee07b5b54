"""Support prices quotes (specification, section 3; quotes)."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from support.orders import at, cancel, confirm, create, rows
from support.quotes import jobs, price_as_support, request_quote
from support.service import MORNING, Customer, Service, running_service
from support.shop import STANDARD, stock_shop
from tradecounter.kit.errors import DomainError
from tradecounter.orders.cancel_order import expire_orders
from tradecounter.orders.rules import MOST_POUNDS
from tradecounter.quotes.price_quote import LONGEST_NOTE, price_quote
from tradecounter.quotes.wire import QuotePrice

A_WEEK = timedelta(days=7)
ONE_SECOND = timedelta(seconds=1)


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.fixture
def quote(customer: Customer) -> dict[str, Any]:
    return request_quote(customer, [("PHONE", 2), ("CABLE", 1)])


def pricing_of(shop: Service, quote: dict[str, Any]) -> tuple[Any, ...]:
    """Return net cost, tax, time, number, note and expiry of a quote's price."""
    [found] = rows(
        shop,
        "select cost_net, cost_tax, priced_at, pricings, quote_note, expires_at from orders"
        " where confirmation_code = %s",
        quote["confirmation_code"],
    )
    return found


def rejection(shop: Service, quote: dict[str, Any], *unit_costs: tuple[str, str], note: str | None = None) -> str:
    """Return why a price is rejected, after checking that nothing has changed."""
    before = pricing_of(shop, quote), jobs(shop, "mail_quote_priced", quote)
    with pytest.raises(DomainError) as error:
        price_as_support(shop, quote, *unit_costs, note=note)
    assert (pricing_of(shop, quote), jobs(shop, "mail_quote_priced", quote)) == before
    return error.value.message


def test_a_price_sets_costs_tax_note_and_expiry(shop: Service, quote: dict[str, Any]) -> None:
    assert pricing_of(shop, quote) == (Decimal("101.99"), Decimal("20.40"), None, 0, None, None)
    price_as_support(shop, quote, ("PHONE", "41.50"), note="For you")
    assert pricing_of(shop, quote) == (Decimal("84.99"), Decimal("17.00"), MORNING, 1, "For you", MORNING + A_WEEK)


def test_the_audit_log_has_the_prices_the_carriage_and_the_note(shop: Service, quote: dict[str, Any]) -> None:
    price_as_support(shop, quote, ("PHONE", "41.50"), note="For you", carriage=[(STANDARD, "1")])
    [(before, after)] = rows(
        shop,
        "select before, after from audit_entry where action = 'quote.price' and subject = %s",
        f"quote/{quote['confirmation_code']}",
    )
    method = f"shipping {STANDARD}"
    assert (before[method] > 1, after[method], after["note"]) == (True, 1, "For you")


@pytest.mark.spec("3 POST /quote", "support gets a ticket and sets the price; the customer gets an e-mail")
def test_the_customers_mail_is_queued_in_the_pricing_transaction(shop: Service, quote: dict[str, Any]) -> None:
    for cost in ("40", "39"):
        price_as_support(shop, quote, ("PHONE", cost))
    [internal] = {job["order_id"] for job in jobs(shop, "mail_quote_requested", quote)}
    assert jobs(shop, "mail_quote_priced", quote) == [
        {"order_id": internal, "pricing": 1},
        {"order_id": internal, "pricing": 2},
    ]


def test_a_quote_can_be_priced_again_and_its_lifetime_restarts(
    shop: Service, customer: Customer, quote: dict[str, Any]
) -> None:
    price_as_support(shop, quote, ("PHONE", "40"), ("cable", "1"), note="First")
    later = MORNING + A_WEEK
    with at(shop, later):
        price_as_support(shop, quote, ("PHONE", "30"))
    assert pricing_of(shop, quote) == (Decimal("61.00"), Decimal("12.20"), later, 2, None, later + A_WEEK)
    with at(shop, later + A_WEEK):
        assert confirm(customer, quote).json()["cost_net"] == 61.00


def test_a_price_applies_to_all_lines_of_its_sku_in_any_case(shop: Service, customer: Customer) -> None:
    quote = request_quote(customer, [("PHONE", 1), ("SWITCH", 1), ("phone", 20)])
    price_as_support(shop, quote, ("pHoNe", "7.5"))
    found = rows(
        shop,
        "select l.sku, l.unit_cost, l.cost_net, l.cost_tax from order_line l join orders o on o.id = l.order_id"
        " where o.confirmation_code = %s order by position",
        quote["confirmation_code"],
    )
    assert found == [
        ("PHONE", Decimal("7.50"), Decimal("7.50"), Decimal("1.50")),
        ("SWITCH", Decimal("299.99"), Decimal("299.99"), Decimal("60.00")),
        ("PHONE", Decimal("7.50"), Decimal("150.00"), Decimal("30.00")),
    ]


def test_a_price_may_rise_and_may_be_zero(shop: Service, customer: Customer, quote: dict[str, Any]) -> None:
    price_as_support(shop, quote, ("PHONE", "0"), ("CABLE", str(MOST_POUNDS)))
    assert pricing_of(shop, quote)[0] == MOST_POUNDS
    price_as_support(shop, quote, ("CABLE", "0.00"))
    assert confirm(customer, quote).json()["cost_gross"] == 0


@pytest.mark.parametrize(
    ("unit_costs", "problem"),
    [
        ([("NOTHING", "1")], "items[0].sku: the quote has no line with this SKU"),
        ([("SWITCH", "1")], "items[0].sku: the quote has no line with this SKU"),
        ([("PHONE", "1"), ("NOTHING", "1")], "items[1].sku: the quote has no line with this SKU"),
        ([("PHONE", "1"), ("phone", "1")], "items[1].sku: is named twice"),
        ([("PHONE", "1"), ("PHONE", "2")], "items[1].sku: is named twice"),
        ([("PHONE", "-0.01")], "items[0].cost_net: the unit cost must be between 0 and"),
        ([("PHONE", "1000000.01")], "items[0].cost_net: the unit cost must be between 0 and"),
        ([("PHONE", "1e30")], "items[0].cost_net: the unit cost must be between 0 and"),
        ([("PHONE", "nan")], "items[0].cost_net: the unit cost must be between 0 and"),
        ([("PHONE", "sNaN")], "items[0].cost_net: the unit cost must be between 0 and"),
        ([("PHONE", "Infinity")], "items[0].cost_net: the unit cost must be between 0 and"),
        ([("PHONE", "1.005")], "items[0].cost_net: the unit cost 1.005 has more than two decimal places"),
        ([("PHONE", "1e-9")], "has more than two decimal places"),
    ],
)
def test_an_invalid_price_is_rejected_and_changes_nothing(
    shop: Service, quote: dict[str, Any], unit_costs: list[tuple[str, str]], problem: str
) -> None:
    assert problem in rejection(shop, quote, *unit_costs)


def test_a_long_note_is_rejected(shop: Service, quote: dict[str, Any]) -> None:
    price_as_support(shop, quote, ("PHONE", "1"), note="x" * LONGEST_NOTE)
    assert rejection(shop, quote, ("PHONE", "1"), note="x" * (LONGEST_NOTE + 1)).startswith("note: ")


def test_only_open_quotes_can_be_priced(shop: Service, customer: Customer) -> None:
    cost = ("PHONE", "1")
    order, confirmed, expired, marked, cancelled = (create(customer), *(request_quote(customer) for _ in range(4)))
    for quote in (confirmed, expired, marked):
        price_as_support(shop, quote, cost)
    reference = confirm(customer, confirmed).json()["order_reference"]
    cancel(shop, cancelled)

    assert "is an order, not a quote" in rejection(shop, order, cost)
    assert rejection(shop, confirmed, cost) == f"the quote is already order {reference}, which is awaiting dispatch"
    assert rejection(shop, cancelled, cost) == "the quote is declined"
    gone = confirm(customer, cancelled)
    assert (gone.status_code, gone.json()["message"]) == (
        410,
        "the quote was declined: create it again if you still want it",
    )
    with at(shop, MORNING + A_WEEK + ONE_SECOND):
        assert "expired at 2026-06-23T09:00:00" in rejection(shop, expired, cost)
        shop.in_transaction(lambda tx: expire_orders(tx, shop.clock.now()))
    assert "the quote expired" in rejection(shop, marked, cost)


def test_an_unknown_code_is_an_error(shop: Service) -> None:
    with pytest.raises(DomainError, match="quote nothing not found"):
        shop.in_transaction(lambda tx: price_quote(tx, "nothing", QuotePrice(), MORNING, A_WEEK, "s" * 64))


def test_the_lifetime_of_a_price_can_be_set(database_url: str) -> None:
    with running_service(database_url, quote_lifetime=timedelta(minutes=5)) as service:
        stock_shop(service)
        customer = service.customer()
        quote = request_quote(customer)
        price_as_support(service, quote, ("PHONE", "1"))
        end: datetime = pricing_of(service, quote)[-1]
        service.clock.set(end + ONE_SECOND)
        assert confirm(customer, quote).status_code == 410
        assert end == MORNING + timedelta(minutes=5)
