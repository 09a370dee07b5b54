"""A customer's address book: `/customer/{id}/address`."""

from dataclasses import dataclass
from datetime import datetime

from starlette.responses import Response

from tradecounter.customers.address_book import remove_address
from tradecounter.customers.address_rules import address_lines
from tradecounter.customers.operations.changes import save_address_of
from tradecounter.customers.pages.staff.shown import shown_customer
from tradecounter.customers.queries.addresses import find_address, list_addresses
from tradecounter.customers.wire import AddressDetails
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import Filled
from tradecounter.edge.pages.countries import COUNTRIES
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import Question, step
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import not_found
from tradecounter.parts.back_office import OfficeParts

_NEW, _DELETE = "/customer/{id}/address/new", "/customer/{id}/address/{address_id}/delete"


@dataclass(frozen=True, slots=True)
class CustomerAddressPages:
    """A customer's address book."""

    desk: PageDesk
    parts: OfficeParts

    @page("/customer/{id}/address", "A customer's addresses", scope="customers:read")
    async def show_addresses(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            shown = await shown_customer(tx, call)
            addresses = await list_addresses(tx, shown.id)
        return self.desk.show(
            call, "customers/addresses.html", shown=shown, addresses=addresses, address_lines=address_lines
        )

    @step(
        _NEW,
        "Save an address",
        shown=lambda self, call, filled: self._show_new(call, filled),
        to="/customer/{id}/address",
        done="The address is saved.",
        scope="customers:write",
    )
    async def save(self, tx: Transaction, call: Call, body: AddressDetails, now: datetime) -> None:
        customer_id = call.path_id("id", "customer")
        await save_address_of(tx, customer_id, body, now)

    @step(
        _DELETE,
        "Delete an address",
        asks=lambda self, call: self._ask_to_delete(call),
        to="/customer/{id}/address",
        done="The address is deleted.",
        scope="customers:write",
    )
    async def delete(self, tx: Transaction, call: Call, now: datetime) -> None:
        await remove_address(tx, call.path_id("id", "customer"), call.path_id("address_id", "address"), now)

    async def _show_new(self, call: Call, filled: Filled) -> Response:
        async with self.desk.reading() as tx:
            shown = await shown_customer(tx, call)
        return self.desk.show(call, "customers/new_address.html", form=filled, shown=shown, countries=COUNTRIES)

    async def _ask_to_delete(self, call: Call) -> Question:
        async with self.desk.reading() as tx:
            shown = await shown_customer(tx, call)
            address_id = call.path_id("address_id", "address")
            address = await find_address(tx, shown.id, address_id)
        if address is None:
            raise not_found("address", address_id)
        return Question(
            text=", ".join(address_lines(address)),
            detail=["Orders keep their copies."],
            button="Delete the address",
            back=f"{shown.path}/address",
            back_name=shown.name,
            danger=True,
        )
