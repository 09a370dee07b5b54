"""`/account/address`: the address book."""

from dataclasses import dataclass
from datetime import datetime

from msgspec import to_builtins
from starlette.responses import Response

from tradecounter.customers.address_book import change_address, remove_address, save_address
from tradecounter.customers.address_rules import address_lines, check_address
from tradecounter.customers.queries.addresses import find_address, list_addresses
from tradecounter.customers.wire import AddressDetails, SavedAddress
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import Filled
from tradecounter.edge.pages.countries import COUNTRIES
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.people import BUYER
from tradecounter.edge.pages.step import Question, step
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import not_found
from tradecounter.parts.account import AccountParts

_LIST, _NEW, _ONE, _REMOVE = (
    "/account/address",
    "/account/address/new",
    "/account/address/{id}",
    "/account/address/{id}/remove",
)


@dataclass(frozen=True, slots=True)
class AddressPages:
    """The pages of the address book."""

    desk: PageDesk
    parts: AccountParts

    @page(_LIST, "Addresses", user_roles=BUYER)
    async def list_addresses(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            found = await list_addresses(tx, call.customer_id)
        return self.desk.show(call, "customers/list.html", addresses=found, address_lines=address_lines)

    @step(
        _NEW,
        "Add an address",
        shown=lambda self, call, filled: self._show_new(call, filled),
        to=_LIST,
        done=lambda saved: f"The address of {saved.contact_name} is saved.",
        user_roles=BUYER,
    )
    async def add(self, tx: Transaction, call: Call, body: AddressDetails, now: datetime) -> SavedAddress:
        check_address(body)
        return await save_address(tx, call.customer_id, body, now)

    @step(
        _ONE,
        "Change an address",
        shown=lambda self, call, filled: self._show(call, "customers/change.html", filled),
        to=_LIST,
        done="The address is changed. Orders that are placed already keep the old one.",
        user_roles=BUYER,
    )
    async def change(self, tx: Transaction, call: Call, body: AddressDetails, now: datetime) -> None:
        check_address(body)
        await change_address(tx, call.customer_id, _id(call), body, now)

    @step(
        _REMOVE,
        "Remove an address",
        asks=lambda self, call: self._ask_to_remove(call),
        to=_LIST,
        done="The address is removed. Orders keep it.",
        user_roles=BUYER,
    )
    async def remove(self, tx: Transaction, call: Call, now: datetime) -> None:
        await remove_address(tx, call.customer_id, _id(call), now)

    async def _show_new(self, call: Call, filled: Filled) -> Response:
        return self.desk.show(call, "customers/new.html", form=filled, countries=COUNTRIES, given={})

    async def _show(self, call: Call, template: str, filled: Filled) -> Response:
        address = await self._address(call)
        return self.desk.show(
            call,
            template,
            form=filled,
            address=address,
            given=to_builtins(address),
            countries=COUNTRIES,
            address_lines=address_lines,
        )

    async def _ask_to_remove(self, call: Call) -> Question:
        address = await self._address(call)
        return Question(
            title="Remove this address?",
            text=", ".join(address_lines(address)),
            detail=[
                f"Programs that order with the number {address.id} get an error from then on. Orders keep the address."
            ],
            button="Remove it",
            back=_LIST,
            back_name="Addresses",
            danger=True,
        )

    async def _address(self, call: Call) -> SavedAddress:
        async with self.desk.reading() as tx:
            address = await find_address(tx, call.customer_id, _id(call))
        if address is None:
            raise not_found("address", _id(call))
        return address


def _id(call: Call) -> int:
    return call.path_id("id", "address")
