"""A valid order row becomes the class of its state; all other rows are rejected."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from tradecounter.orders.states import (
    AnyOrder,
    CancelledOrder,
    CancelledUnconfirmed,
    ConfirmedOrder,
    PendingOrder,
    PricedQuote,
    UnpricedQuote,
    parse_order,
    pricing_of,
    quote_status,
)

NOW = datetime(2026, 6, 16, 8, 0, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
MOMENT = timedelta(microseconds=1)
ADDRESS = {"contact_name": "Ada", "street_one": "1 Quay", "city": "Leeds", "zip": "LS1 1AA", "country_code": "gb"}
VAN = {"id": 11, "provider": "Van", "description": "Slow", "cost_net": "5.00", "transit_days": 1, "cut_off": "16:00:00"}
NOTHING = dict.fromkeys(
    [
        "number", "order_reference", "external_customer_id", "order_notifications", "courier_notifications",
        "shipping_method", "shipping_net", "shipping_tax", "status", "term_days", "expires_at", "confirmed_at",
        "priced_at", "quote_note", "cancelled_at", "cancel_reason", "expected_changed_at",
    ]
)  # fmt: skip
CREATED = {
    "id": 1, "customer_id": 2, "kind": "order", "state": "pending", "confirmation_code": "c0de",
    "customer_reference": "PO-1", "billing_address": ADDRESS, "shipping_address": ADDRESS, "shipping_region": 1,
    "shipping_options": [VAN], "shipping_weight": Decimal("1.000"), "cost_net": Decimal("100.00"),
    "cost_tax": Decimal("20.00"), "tax_rate": Decimal("20.00"), "paid": Decimal("0.00"), "pricings": 0,
    "created_at": NOW, "changed_at": NOW, "allow_back_orders": True,
}  # fmt: skip
PENDING = NOTHING | CREATED | {"expires_at": LATER}
UNPRICED = PENDING | {"kind": "quote", "expires_at": None}
PRICED = UNPRICED | {"priced_at": NOW, "expires_at": LATER, "pricings": 2, "quote_note": "Thank you."}
CONFIRMATION = {
    "state": "confirmed", "number": 7, "order_reference": "ORD-7", "shipping_method": 11,
    "shipping_net": Decimal("5.00"), "shipping_tax": Decimal("1.00"), "paid": Decimal("26.00"),
    "status": "Back-ordered", "term_days": 30, "confirmed_at": NOW,
}  # fmt: skip
CONFIRMED = PENDING | CONFIRMATION
CANCELLATION = {"state": "cancelled", "status": "Cancelled", "cancelled_at": LATER, "cancel_reason": "Lost"}

ROWS = [
    (PENDING, PendingOrder),
    (PENDING | {"state": "expired"}, PendingOrder),
    (UNPRICED, UnpricedQuote),
    (PRICED, PricedQuote),
    (PRICED | {"state": "expired"}, PricedQuote),
    (CONFIRMED, ConfirmedOrder),
    (PRICED | CONFIRMATION, ConfirmedOrder),
    (CONFIRMED | CANCELLATION, CancelledOrder),
    (PENDING | CANCELLATION, CancelledUnconfirmed),
    (UNPRICED | CANCELLATION, CancelledUnconfirmed),
    (PRICED | CANCELLATION, CancelledUnconfirmed),
]


@pytest.mark.parametrize(("row", "expected"), ROWS)
def test_a_row_becomes_the_class_of_its_state(row: dict[str, Any], expected: type[AnyOrder]) -> None:
    order = parse_order(**row)
    assert type(order) is expected
    assert (order.state, order.kind) == (row["state"], row["kind"])
    assert order.shipping_address.country_code == "GB"


@pytest.mark.parametrize(
    "impossible",
    [
        PENDING | {"expires_at": None},
        UNPRICED | {"state": "expired"},
        PRICED | {"expires_at": None},
        *(CONFIRMED | {name: None} for name in CONFIRMATION),
        *(CONFIRMED | CANCELLATION | {name: None} for name in ("cancelled_at", "cancel_reason", "shipping_net")),
        *(PENDING | CANCELLATION | {name: None} for name in ("cancelled_at", "cancel_reason", "status")),
        PENDING | {"kind": "order", "state": "sent"},
    ],
)
def test_a_row_that_no_state_allows_is_rejected(impossible: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        parse_order(**impossible)


@pytest.mark.parametrize("row", [PENDING, PRICED])
def test_an_order_expires_after_its_expiry_time_or_when_it_is_marked(row: dict[str, Any]) -> None:
    for state, now, expected in (
        ("pending", LATER, False),
        ("pending", LATER + MOMENT, True),
        ("expired", NOW, True),
    ):
        order = parse_order(**row | {"state": state})
        assert isinstance(order, PendingOrder | PricedQuote)
        assert order.has_expired(now) is expected


def test_the_gross_includes_shipping_once_it_is_confirmed() -> None:
    assert parse_order(**PENDING).cost_gross == Decimal("120.00")
    confirmed = parse_order(**CONFIRMED)
    assert isinstance(confirmed, ConfirmedOrder)
    assert (confirmed.gross, confirmed.due) == (Decimal("126.00"), Decimal("100.00"))


def test_the_chosen_option_has_the_named_method() -> None:
    assert parse_order(**PENDING).chosen_shipping is None
    for row in (PENDING | {"shipping_method": 11}, CONFIRMED):
        chosen = parse_order(**row).chosen_shipping
        assert chosen is not None
        assert chosen.name == "Van Slow"
    with pytest.raises(LookupError):
        assert parse_order(**CONFIRMED | {"shipping_method": 12}).chosen_shipping


@pytest.mark.parametrize(
    ("row", "status", "pricings"),
    [
        (UNPRICED, "Waiting", None),
        (PRICED, "Priced", 2),
        (PRICED | {"expires_at": NOW - MOMENT}, "Expired", 2),
        (UNPRICED | CANCELLATION, "Declined", None),
        (PRICED | CANCELLATION, "Declined", 2),
        (PRICED | CONFIRMATION, "Ordered", 2),
        (PRICED | CONFIRMATION | CANCELLATION, "Ordered", 2),
    ],
)
def test_a_quote_has_a_status_and_support_s_latest_price(
    row: dict[str, Any], status: str, pricings: int | None
) -> None:
    quote, pricing = parse_order(**row), pricing_of(parse_order(**row))
    assert quote_status(quote, NOW) == status
    assert (None if pricing is None else pricing.pricings) == pricings


def test_an_order_stays_readable_when_rules_for_addresses_and_contacts_become_stricter() -> None:
    row = CONFIRMED | {
        "order_notifications": {"email_address": "a@b>"},
        "billing_address": ADDRESS | {"zip": "x" * 999},
    }
    order = parse_order(**row)
    assert order.order_notifications is not None
    assert (order.order_notifications.email_address, order.billing_address.zip) == ("a@b>", "x" * 999)


def test_an_order_stays_readable_when_another_release_stored_more_of_an_address() -> None:
    order = parse_order(**CONFIRMED | {"billing_address": ADDRESS | {"floor": "2"}})
    assert order.billing_address.city == "Leeds"
