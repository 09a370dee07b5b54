"""The customer whose things a page shows: one that staff have chosen, or the user's own."""

from dataclasses import dataclass

from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.settings import Account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.pages.page_site import ACCOUNT
from tradecounter.edge.rest.call import Call


@dataclass(frozen=True, slots=True)
class ShownCustomer:
    """A customer with its name and the path of its pages."""

    account: Account

    @property
    def id(self) -> int:
        """The customer's id."""
        return self.account.id

    @property
    def name(self) -> str:
        """The company, or the contact person of an account without a company."""
        return self.account.name

    @property
    def contact(self) -> str:
        """The contact person."""
        return f"{self.account.first_name} {self.account.last_name}".strip()

    @property
    def path(self) -> str:
        """The path of the customer's first page."""
        return f"/customer/{self.account.id}"


async def shown_customer(tx: Transaction, call: Call) -> ShownCustomer:
    """Return the customer that a page's path names. Raises DomainError (not found)."""
    return ShownCustomer(await fetch_account(tx, call.path_id("id", "customer")))


@dataclass(frozen=True, slots=True)
class Owner:
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
