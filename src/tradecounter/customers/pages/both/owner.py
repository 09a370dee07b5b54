"""The customer whose things a page shows: one that staff have chosen, or the user's own."""

from msgspec import Struct

from tradecounter.db.transaction import Transaction
from tradecounter.edge.pages.page_site import ACCOUNT
from tradecounter.edge.rest.call import Call
from tradecounter.parts.shown_customer import ShownCustomer, shown_customer


class Owner(Struct, frozen=True):
    """A customer; `shown` is None on the pages of its own users."""

    id: int
    shown: ShownCustomer | None

    @property
    def path(self) -> str:
        """What the paths of the pages begin with."""
        return ACCOUNT.home if self.shown is None else self.shown.path

    @property
    def name(self) -> str:
        """What a link back to the addresses is called."""
        return "Addresses" if self.shown is None else self.shown.name

    def template(self, name: str) -> str:
        """Return the template that shows a page in the frame of the site."""
        return f"customers/{'own' if self.shown is None else 'customer'}_{name}.html"


async def owner_of_page(tx: Transaction, call: Call, customer_id: int | None) -> Owner:
    """Return the customer of a page: the one given, or the one that the path names. Raises DomainError (not found)."""
    if customer_id is not None:
        return Owner(customer_id, None)
    shown = await shown_customer(tx, call)
    return Owner(shown.id, shown)
