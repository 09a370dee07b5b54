"""The demo's orders: in every state that an order can be in, as if of the last weeks.

Examples in the interface document name some of their ids, so new orders come last.

Mail is queued as it always is. So that the mail folder holds one or two of each kind, and not the post of two months,
it is kept for a few orders only, those that are `told`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tradecounter.demo.progress import (
    Announced,
    Cancelled,
    Configured,
    Dispatched,
    Filmed,
    Invoiced,
    Paid,
    Priced,
    Step,
    Tracked,
)

HARBOURLINE, FENWICK_BROOK, PETREL_COVE, _, NORDKAI = range(5)  # places in data/customers.jsonl

Kind = Literal["pending", "confirmed", "quote"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """An order to place: by which customer, how many days ago, of what, and what became of it since.

    `skus` name the products; without any of them, the order has `lines` cheap products, which are in stock
    or are not.
    """

    customer: int
    days_ago: float
    quantity: int
    kind: Kind = "confirmed"
    skus: Sequence[str] = ()
    lines: int = 1
    from_stock: bool = True
    told: bool = False
    since: Sequence[Step] = ()


WISHES: Sequence[Wish] = (
    Wish(
        customer=HARBOURLINE,
        days_ago=64,
        lines=3,
        quantity=6,
        since=(Dispatched(days_ago=63.9, tracking="NW-4410-2265"), Invoiced(days_ago=63), Paid(days_ago=20)),
    ),
    Wish(
        customer=HARBOURLINE,
        days_ago=58,
        lines=2,
        quantity=12,
        since=(Dispatched(days_ago=57.9), Invoiced(days_ago=57), Paid(days_ago=12, percent=40)),
    ),
    Wish(
        customer=PETREL_COVE,
        days_ago=26,
        quantity=2,
        since=(Dispatched(days_ago=25.9, tracking="MX-7718"), Invoiced(days_ago=25)),
    ),
    Wish(
        customer=HARBOURLINE,
        days_ago=9,
        skus=("CV-320G", "CV-445G"),
        quantity=3,
        told=True,
        since=(
            Dispatched(days_ago=8.9, tracking="NW-4410-9871", numbered=True),
            Filmed(days_ago=8.8),
            Tracked(8.6, "Collected", "The courier has the parcel.", "Southampton"),
            Tracked(7.9, "Delivered", "Signed for by M Adeyemi-Holt.", "Southampton"),
            Invoiced(days_ago=7),
            Paid(days_ago=0.5, percent=50),
        ),
    ),
    Wish(
        customer=HARBOURLINE,
        days_ago=8,
        lines=1,
        quantity=5,
        told=True,
        since=(Cancelled(7.5, "You asked us to cancel it: the wrong model was ordered."),),
    ),
    Wish(customer=NORDKAI, days_ago=7, lines=2, quantity=10, since=(Dispatched(days_ago=6.5), Invoiced(days_ago=6))),
    Wish(customer=HARBOURLINE, days_ago=6, skus=("HM310",), quantity=8, since=(Configured(days_ago=5.9, units=2),)),
    Wish(customer=FENWICK_BROOK, days_ago=5, lines=2, quantity=5),
    Wish(
        customer=HARBOURLINE,
        days_ago=4,
        skus=("HM-BRANCH-KIT",),
        quantity=2,
        since=(
            Dispatched(days_ago=3.9, tracking="NW-4411-0042", numbered=True),
            Filmed(days_ago=3.8),
            Tracked(3.6, "Collected", "The courier has the parcel.", "Southampton"),
            Tracked(2.8, "Out for delivery", "The parcel is on the van.", "Eastleigh"),
        ),
    ),
    Wish(customer=FENWICK_BROOK, days_ago=3, quantity=1, kind="pending"),
    Wish(
        customer=HARBOURLINE,
        days_ago=2.5,
        lines=2,
        quantity=4,
        told=True,
        since=(Dispatched(days_ago=2.1, lines=1, tracking="NW-4411-0387"),),
    ),
    Wish(
        customer=HARBOURLINE,
        days_ago=2.2,
        lines=2,
        quantity=40,
        kind="quote",
        told=True,
        since=(Priced(1.5, percent=92, note="The price holds for a delivery in one go."),),
    ),
    Wish(customer=PETREL_COVE, days_ago=2, quantity=1),
    Wish(
        customer=HARBOURLINE,
        days_ago=1,
        quantity=4,
        from_stock=False,
        told=True,
        since=(Announced(days_ago=0.5, in_days=9),),
    ),
    Wish(customer=HARBOURLINE, days_ago=0.2, lines=3, quantity=25, kind="quote", told=True),
    Wish(customer=HARBOURLINE, days_ago=0.1, lines=4, quantity=2, kind="pending"),
    Wish(
        customer=FENWICK_BROOK,
        days_ago=7.2,
        quantity=20,
        kind="quote",
        told=True,
        since=(Priced(6.3, percent=95, note="Delivered in one go."),),
    ),
)
