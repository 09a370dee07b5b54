"""`/account/address`, and `/customer/{id}/address` in the back office: a customer's address book."""

from datetime import datetime
from typing import Any

from msgspec import Struct, to_builtins
from starlette.responses import Response

from tradecounter.customers.address_rules import address_lines, check_address
from tradecounter.customers.change_account import change_address, remove_address, save_address
from tradecounter.customers.queries.addresses import find_address, list_addresses
from tradecounter.customers.wire import AddressDetails, SavedAddress
from tradecounter.db.transaction import Transaction
from tradecounter.edge.pages.countries import COUNTRIES
from tradecounter.edge.pages.operation import BUYER, Rights, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.page_site import ACCOUNT, BothSites, SharedParts
from tradecounter.edge.pages.step import Question, step
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import or_not_found
from tradecounter.parts.shown import ShownCustomer, shown_customer


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
    customer = await shown_customer(tx, call)
    return Owner(customer.id, customer)


_BOOK, _NEW, _ONE, _REMOVE = "/address", "/address/new", "/address/{address_id}", "/address/{address_id}/remove"
_READ: Rights = {"scope": "customers:read", "user_roles": BUYER}
_CHANGE: Rights = {"scope": "customers:write", "user_roles": BUYER}


class AddressPages(Struct, BothSites, frozen=True):
    """An address book: of any customer for staff, and a customer's own."""

    desk: PageDesk
    parts: SharedParts

    @page(_BOOK, "Addresses", **_READ)
    async def list_addresses(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            owner = await owner_of_page(tx, call, self.owner(call))
            addresses = await list_addresses(tx, owner.id)
        return self.desk.show(call, owner.template("addresses"), owner=owner, shown=owner.shown, addresses=addresses)

    async def _read(self, tx: Transaction, call: Call) -> tuple[Owner, SavedAddress | None]:
        """Return the owner, and the address that the path names, if it names one. Raises DomainError (not found)."""
        owner = await owner_of_page(tx, call, self.owner(call))
        if "address_id" not in call.request.path_params:
            return owner, None
        return owner, or_not_found(await find_address(tx, owner.id, _id(call)), "address", _id(call))

    async def _values(self, tx: Transaction, call: Call) -> dict[str, Any]:
        owner, address = await self._read(tx, call)
        given = {} if address is None else to_builtins(address)
        return {"owner": owner, "address": address, "given": given, "countries": COUNTRIES}

    @step(
        _NEW,
        "Add an address",
        template="customers/address.html",
        values=_values,
        to=_BOOK,
        done=lambda saved: f"The address of {saved.contact_name} is saved.",
        **_CHANGE,
    )
    async def add(self, tx: Transaction, call: Call, body: AddressDetails, now: datetime) -> SavedAddress:
        check_address(body)
        owner = await owner_of_page(tx, call, self.owner(call))
        return await save_address(tx, owner.id, body, now)

    @step(
        _ONE,
        "Change an address",
        template="customers/address.html",
        values=_values,
        to=_BOOK,
        done="The address is changed. Orders that are placed already keep the old one.",
        **_CHANGE,
    )
    async def change(self, tx: Transaction, call: Call, body: AddressDetails, now: datetime) -> None:
        check_address(body)
        owner = await owner_of_page(tx, call, self.owner(call))
        await change_address(tx, owner.id, _id(call), body, now)

    async def _ask_to_remove(self, tx: Transaction, call: Call) -> Question:
        owner, address = await self._read(tx, call)
        return Question(
            title="Remove this address?",
            text=", ".join(address_lines(address)) if address else "",
            detail=[
                f"Programs that order with the number {_id(call)} get an error from then on. Orders keep the address."
            ],
            button="Remove it",
            back=f"{owner.path}/address",
            back_name=owner.name,
            danger=True,
        )

    @step(
        _REMOVE,
        "Remove an address",
        asks=_ask_to_remove,
        to=_BOOK,
        done="The address is removed. Orders keep it.",
        **_CHANGE,
    )
    async def remove(self, tx: Transaction, call: Call, now: datetime) -> None:
        owner = await owner_of_page(tx, call, self.owner(call))
        await remove_address(tx, owner.id, _id(call), now)


def _id(call: Call) -> int:
    return call.path_id("address_id", "address")
