"""What may be asked about keys."""

from datetime import date, timedelta
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.edge.permissions import KEY_SCOPES, KeyScope
from tradecounter.kit.clock import day_ends
from tradecounter.kit.setting_rules import comma_separated
from tradecounter.kit.wire import Moment, RequiredText

SCOPE_CHOICES: tuple[tuple[KeyScope, str], ...] = (
    ("read", "Read products, orders, quotes and events"),
    ("order", "Order and ask for quotes"),
    ("account", "Invoices, credit, addresses and other data of the account"),
)
_LAST = date.max - timedelta(days=1)  # the day after it exists


class KeyRequest(Struct, omit_defaults=True):
    """An API key to create."""

    name: Annotated[RequiredText, Meta(description="What the key is for.")]
    scopes: Annotated[list[KeyScope] | None, Meta(description="What the key may do; absent: everything.")] = None
    expires_at: Annotated[Moment | None, Meta(description="Until when it is valid; absent: until it is disabled.")] = (
        None
    )
    networks: Annotated[
        list[str] | None,
        Meta(
            description="The networks (CIDR) and addresses from which it may be used; absent or empty: from anywhere."
        ),
    ] = None


class KeyForm(Struct):
    """The same on a page, where all boxes are ticked at first."""

    name: Annotated[str, Meta(min_length=1, max_length=200)]
    scopes: list[KeyScope] = []
    last_day: date | None = None
    networks: str = ""

    @property
    def request(self) -> KeyRequest:
        """The request that the form makes. The key is valid until the end of its last day."""
        last_day = None if self.last_day is None else min(self.last_day, _LAST)
        return KeyRequest(
            name=self.name,
            scopes=None if set(self.scopes) == set(KEY_SCOPES) else self.scopes,
            expires_at=None if last_day is None else day_ends(last_day),
            networks=comma_separated(self.networks.replace("\n", ",")),
        )


def named_on_page(place: str) -> str:
    """Return what the page calls a field of the request."""
    name = place.partition("[")[0]
    return "last_day" if name == "expires_at" else name
