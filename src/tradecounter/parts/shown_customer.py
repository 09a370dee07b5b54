"""The customer that a page of the back office shows."""

from msgspec import Struct

from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.settings import Account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.rest.call import Call


class ShownCustomer(Struct, frozen=True):
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
