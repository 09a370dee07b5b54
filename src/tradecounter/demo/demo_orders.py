"""The demo's orders: at least one in each state, created during the last weeks.

Examples in the interface document use these orders' ids, so add new orders at the end. Only orders with `send_mail`
cause e-mails, so that the mail folder contains one or two of each kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Literal

from tradecounter.sandbox.steps import (
    Announced,
    Asked,
    Cancelled,
    Configured,
    Credited,
    Dispatched,
    Filmed,
    Invoiced,
    PartCancelled,
    Priced,
    Settled,
    Step,
    Tracked,
)

HARBOURLINE, FENWICK_BROOK, PETREL_COVE, _, NORDKAI = range(5)  # line numbers in data/customers.jsonl, from 0

DemoKind = Literal["pending", "confirmed", "quote"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOrder:
    """An order to place and its later steps.

    If the catalogue contains none of the `skus`, the order has `lines` cheap products, which are in stock
    (`from_stock`) or out of stock.
    """

    customer: int
    days_ago: float
    quantity: int
    kind: DemoKind = "confirmed"
    skus: Sequence[str] = ()
    lines: int = 1
    from_stock: bool = True
    send_mail: bool = False
    steps: Sequence[tuple[float, Step]] = ()  # with the days before the start of the demo

    @property
    def age(self) -> timedelta:
        """How long before the start of the demo the order was created."""
        return timedelta(days=self.days_ago)


DEMO_ORDERS: Sequence[DemoOrder] = (
    DemoOrder(
        customer=HARBOURLINE,
        days_ago=64,
        lines=3,
        quantity=6,
        steps=(
            (63.9, Dispatched(tracking="NW-4410-2265")),
            (63, Invoiced()),
            (20, Settled()),
            (18, Credited(Decimal("2.00"), "A box arrived dented.")),
        ),
    ),
    DemoOrder(
        customer=HARBOURLINE,
        days_ago=58,
        lines=2,
        quantity=12,
        steps=((57.9, Dispatched()), (57, Invoiced()), (12, Settled(percent=40))),
    ),
    DemoOrder(
        customer=PETREL_COVE,
        days_ago=26,
        quantity=2,
        steps=((25.9, Dispatched(tracking="MX-7718")), (25, Invoiced())),
    ),
    DemoOrder(
        customer=HARBOURLINE,
        days_ago=9,
        skus=("CV-320G", "CV-445G"),
        quantity=3,
        send_mail=True,
        steps=(
            (8.9, Dispatched(tracking="NW-4410-9871", numbered=True)),
            (8.8, Filmed()),
            (8.6, Tracked("Collected", "The courier has the parcel.", "Southampton")),
            (7.9, Tracked("Delivered", "Signed for by M Adeyemi-Holt.", "Southampton")),
            (7, Invoiced()),
            (0.5, Settled(percent=50)),
        ),
    ),
    DemoOrder(
        customer=HARBOURLINE,
        days_ago=8,
        quantity=5,
        send_mail=True,
        steps=((7.5, Cancelled("You asked us to cancel it: the wrong model was ordered.")),),
    ),
    DemoOrder(customer=NORDKAI, days_ago=7, lines=2, quantity=10, steps=((6.5, Dispatched()), (6, Invoiced()))),
    DemoOrder(customer=HARBOURLINE, days_ago=6, skus=("HM310",), quantity=8, steps=((5.9, Configured(units=2)),)),
    DemoOrder(customer=FENWICK_BROOK, days_ago=5, lines=2, quantity=5),
    DemoOrder(
        customer=HARBOURLINE,
        days_ago=4,
        skus=("HM-BRANCH-KIT",),
        quantity=2,
        steps=(
            (3.9, Dispatched(tracking="NW-4411-0042", numbered=True)),
            (3.8, Filmed()),
            (3.6, Tracked("Collected", "The courier has the parcel.", "Southampton")),
            (2.8, Tracked("Out for delivery", "The parcel is on the van.", "Eastleigh")),
            (0.4, Asked("The parcel has not come yet. Where is it?")),
        ),
    ),
    DemoOrder(customer=FENWICK_BROOK, days_ago=3, quantity=1, kind="pending"),
    DemoOrder(
        customer=HARBOURLINE,
        days_ago=2.5,
        lines=2,
        quantity=4,
        send_mail=True,
        steps=(
            (2.1, Dispatched(lines=1, tracking="NW-4411-0387")),
            (1.9, PartCancelled(units=1, reason="You asked us to send one unit less.")),
        ),
    ),
    DemoOrder(
        customer=HARBOURLINE,
        days_ago=2.2,
        lines=2,
        quantity=40,
        kind="quote",
        send_mail=True,
        steps=((1.5, Priced(discount=8, note="The price is valid for a single delivery.")),),
    ),
    DemoOrder(customer=PETREL_COVE, days_ago=2, quantity=1),
    DemoOrder(
        customer=HARBOURLINE,
        days_ago=1,
        quantity=4,
        from_stock=False,
        send_mail=True,
        steps=((0.5, Announced(in_days=9)),),
    ),
    DemoOrder(customer=HARBOURLINE, days_ago=0.2, lines=3, quantity=25, kind="quote", send_mail=True),
    DemoOrder(customer=HARBOURLINE, days_ago=0.1, lines=4, quantity=2, kind="pending"),
    DemoOrder(
        customer=FENWICK_BROOK,
        days_ago=7.2,
        quantity=20,
        kind="quote",
        send_mail=True,
        steps=((6.3, Priced(discount=5, note="Delivered in a single shipment.")),),
    ),
)
