"""The forms of a customer's settings and of a new customer; blocking, export and erasure."""

from collections.abc import Awaitable, Callable, Collection
from datetime import datetime
from typing import Any, Union, get_args

import msgspec
from msgspec import Struct, UnsetType, structs
from starlette.responses import Response

from tradecounter.customers.change_account import block_customer, unblock_customer
from tradecounter.customers.operations.changes import (
    CONTACT,
    CREDIT,
    TRADE,
    change_customer,
    create_customer,
    exported_customer,
    roles_of_field,
)
from tradecounter.customers.queries.accounts import price_list_keys
from tradecounter.customers.settings import DEFAULTS, SETTINGS, Account, CustomerChange
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.forms import EditForm, fields_shown
from tradecounter.edge.page_kit.submitted_forms import Submitted, read_submitted
from tradecounter.edge.pages.operation import form, page, roles_of_caller
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import step
from tradecounter.edge.permissions import has_one_of
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.kit.numbers import alternatives
from tradecounter.kit.text import fold
from tradecounter.kit.wire import ReasonRequest
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.shown import shown_customer
from tradecounter.privacy.personal_data import erase_customer, what_goes
from tradecounter.shipping.queries import read_methods

_NEW = "/customer/new"
_BY_CONTACT, _BY_CREDIT, _BY_TRADE = (roles_of_field(settings[0]) for settings in (CONTACT, CREDIT, TRADE))


def _with_fields(settings: Collection[str]) -> Callable[[type[Struct]], type[Struct]]:
    """Give a form the fields of some settings.

    An empty field empties its setting, or is an error if that needs a value.
    Who may change a field is the same as in the API: each form has the fields of one right.
    """
    fields = [_field(each) for each in structs.fields(CustomerChange) if each.name in settings]
    return lambda form: msgspec.defstruct(form.__name__, fields, bases=(form,), kw_only=True)


def _field(setting: structs.FieldInfo) -> tuple[str, Any, Any]:
    kind: Any = Union[tuple(arg for arg in get_args(setting.type) if arg is not UnsetType)]  # noqa: UP007 of a tuple
    default: Any = msgspec.NODEFAULT
    if bool in alternatives(kind):
        default = False  # a box that is not ticked is not sent
    elif type(None) in alternatives(kind):
        default = None
    elif setting.name in DEFAULTS:
        default = msgspec.convert(DEFAULTS[setting.name], kind)
    return setting.name, kind, msgspec.field(default=default)


@_with_fields(CONTACT)
class ContactForm(EditForm):
    """The form of the contact."""


@_with_fields(CREDIT)
class CreditForm(EditForm):
    """The form of the credit terms."""


@_with_fields(TRADE)
class TradeForm(EditForm):
    """The form of the terms of trade."""


@_with_fields(SETTINGS)
class NewCustomerForm(Struct):
    """The form of a new customer."""


def _shown_in(form: type[EditForm]) -> Callable[..., Awaitable[dict[str, Any]]]:
    """Return the method that reads what a form of a customer's settings shows."""

    async def values(_pages: "CustomerSettingsPages", tx: Transaction, call: Call) -> dict[str, Any]:
        shown = await shown_customer(tx, call)
        choices = await _choices(tx) if form is TradeForm else {}
        return {"shown": shown, "was": fields_shown(form, shown.account), **choices}

    return values


class CustomerSettingsPages(Struct, frozen=True):
    """The forms of a customer's settings."""

    desk: PageDesk
    parts: OfficeParts

    @page(_NEW, "Add a customer", scope="customers:write", roles=_BY_CONTACT)
    async def show_new(self, call: Call) -> Response:
        return await self._show_new(call, Filled())

    @form(_NEW, "Add a customer", scope="customers:write", roles=_BY_CONTACT)
    async def add(self, call: Call) -> Response:
        submitted = await read_submitted(call)
        fields = _own_fields(call, submitted)

        async def work(tx: Transaction, body: Struct, now: datetime) -> Account:
            chosen = {name: value for name, value in structs.asdict(body).items() if name in fields}
            return await create_customer(tx, CustomerChange(**chosen), now)

        return await self.desk.change(
            call,
            NewCustomerForm,
            work,
            again=lambda filled: self._show_new(call, filled),
            to=lambda account: f"/customer/{account.id}",
            done="The customer is added. Invite its owner under Access, or make an API key there.",
            submitted=submitted,
        )

    @step(
        "/customer/{id}/contact",
        "Change a customer's contact",
        template="customers/contact.html",
        values=_shown_in(ContactForm),
        to="/customer/{id}",
        done="The contact is changed.",
        scope="customers:write",
        roles=_BY_CONTACT,
        dangerous=True,
    )
    async def change_contact(self, tx: Transaction, call: Call, body: ContactForm, now: datetime) -> None:
        await _change(tx, call, body, now)

    @step(
        "/customer/{id}/credit-terms",
        "Change a customer's credit terms",
        template="customers/credit_terms.html",
        values=_shown_in(CreditForm),
        to="/customer/{id}",
        done="The credit terms are changed.",
        scope="billing:write",
        roles=_BY_CREDIT,
    )
    async def change_credit(self, tx: Transaction, call: Call, body: CreditForm, now: datetime) -> None:
        await _change(tx, call, body, now)

    @step(
        "/customer/{id}/trade-terms",
        "Change a customer's terms of trade",
        template="customers/trade_terms.html",
        values=_shown_in(TradeForm),
        to="/customer/{id}",
        done="The terms of trade are changed.",
        scope="customers:write",
        roles=_BY_TRADE,
    )
    async def change_trade(self, tx: Transaction, call: Call, body: TradeForm, now: datetime) -> None:
        await _change(tx, call, body, now)

    async def _show_new(self, call: Call, filled: Filled) -> Response:
        async with self.desk.reading() as tx:
            choices = await _choices(tx)
        roles = roles_of_caller(call)
        may = {name: has_one_of(roles, who) for name, who in (("credit", _BY_CREDIT), ("trade", _BY_TRADE))}
        return self.desk.show(call, "customers/new.html", form=filled, may=may, **choices)


def _own_fields(call: Call, submitted: Submitted) -> set[str]:
    """Return the fields that the person may set. Raises DomainError (forbidden) if the form has another."""
    roles = roles_of_caller(call)
    own = {name for name in SETTINGS if has_one_of(roles, roles_of_field(name))}
    others = sorted(name for name in set(SETTINGS) - own if submitted.one(name))
    if others:
        raise DomainError(Kind.FORBIDDEN, f"{others[0]} needs {' or '.join(roles_of_field(others[0]))}")
    return own


async def _change(tx: Transaction, call: Call, body: EditForm, now: datetime) -> None:
    if changes := body.differences():
        await change_customer(tx, call.path_id("id", "customer"), CustomerChange(**changes), now)


async def _choices(tx: Transaction) -> dict[str, Any]:
    """Return the price lists, and the shipping methods with their names."""
    methods = [(method.id, f"{method.provider} {method.description}") for method in await read_methods(tx)]
    return {"price_lists": await price_list_keys(tx), "methods": methods}


class ErasureForm(Struct):
    """The customer's number, typed so that nobody erases another customer by mistake."""

    number: str


class CustomerStepPages(Struct, frozen=True):
    """The forms that block, unblock and erase, and the export."""

    desk: PageDesk
    parts: OfficeParts

    async def _customer(self, tx: Transaction, call: Call) -> dict[str, Any]:
        return {"shown": await shown_customer(tx, call)}

    @step(
        "/customer/{id}/block",
        "Block a customer",
        template="customers/block.html",
        values=_customer,
        to="/customer/{id}",
        done="The customer is blocked.",
        scope="billing:write",
    )
    async def block(self, tx: Transaction, call: Call, body: ReasonRequest, now: datetime) -> None:
        await block_customer(tx, call.path_id("id", "customer"), body.reason, now)

    @step(
        "/customer/{id}/unblock",
        "Unblock a customer",
        template="customers/unblock.html",
        values=_customer,
        to="/customer/{id}",
        done="The customer is not blocked any more.",
        scope="billing:write",
    )
    async def unblock(self, tx: Transaction, call: Call, now: datetime) -> None:
        await unblock_customer(tx, call.path_id("id", "customer"), now)

    @page("/customer/{id}/export", "All that is stored of a customer", scope="customers:read", dangerous=True)
    async def export(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            return await exported_customer(tx, call.path_id("id", "customer"))

    async def _erasure(self, tx: Transaction, call: Call) -> dict[str, Any]:
        customer = await shown_customer(tx, call)
        try:
            erasure, problem = await what_goes(tx, customer.account), ""
        except DomainError as error:
            erasure, problem = None, str(error)
        return {"shown": customer, "erasure": erasure, "problem": problem}

    @step(
        "/customer/{id}/erase",
        "Erase a customer",
        template="customers/erase.html",
        values=_erasure,
        to="/customer/{id}",
        done="The customer's personal data are erased.",
        scope="customers:write",
        roles=("administrator",),
        dangerous=True,
    )
    async def erase(self, tx: Transaction, call: Call, body: ErasureForm, now: datetime) -> None:
        customer_id = call.path_id("id", "customer")
        if fold(body.number) != str(customer_id):
            raise invalid("number", f"must be {customer_id}")
        await erase_customer(tx, customer_id, now)
