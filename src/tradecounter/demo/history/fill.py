"""Fills the demo's history: each happening in a transaction of its own, with the time and the person of the plan.

The history is filled while the demo serves. Its transactions are as short as those of requests, so nobody waits for it.
It can be interrupted: what has an entry in a log at its time is done, and the next start continues.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

import structlog
from msgspec import Struct, field

from tradecounter.access.queries.people import find_staff_member, find_user
from tradecounter.access.queries.tokens import find_token
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.demo.history.happenings import Happening, NewOrder
from tradecounter.demo.history.plan import plan
from tradecounter.demo.history.webhooks import add_demo_webhooks
from tradecounter.demo.people import demo_token, staff_email
from tradecounter.demo.place_orders import DEMO_ORDERS, Market, demo_code, open_market, place
from tradecounter.demo.queries import drop_new_jobs, moments_done
from tradecounter.edge.permissions import ROLES
from tradecounter.events.sequencer import number_all
from tradecounter.identity.credentials import secret_hash
from tradecounter.kit.actor import SYSTEM, Actor
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import DomainError, invalid
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.wire import CreateOrderItem
from tradecounter.sandbox.steps import Reseller, reseller_from
from tradecounter.settings import Settings
from tradecounter.storefront.view import CustomerView
from tradecounter.webhooks.queries.endpoints import count_endpoints

log = structlog.get_logger()

_DEAREST = 12_000  # pence
_HEAVIEST = 1.0  # kilograms, so that parcels are not too heavy for the couriers
_ENOUGH = 60  # units in stock
_MOST_ON_SHELF = 400


class Filled(Struct, frozen=True):
    """How many happenings were added, and the messages of those that the use cases rejected."""

    added: int
    rejected: list[str]


class Shelf(Struct):
    """The products that the history's orders choose from, for each customer: cheap, light and either in stock or not.

    Rows are read once, so that the choice does not depend on what was sold meanwhile.
    """

    _rows: dict[tuple[int, bool], list[int]] = field(default_factory=dict)

    def items(self, view: CustomerView, customer_id: int, order: NewOrder) -> list[CreateOrderItem]:
        """Return the items of an order. Raises DomainError if there are no such products."""
        key = (customer_id, order.from_stock)
        if key not in self._rows:
            self._rows[key] = _fitting_rows(view, from_stock=order.from_stock)
        rows = self._rows[key]
        if not rows:
            raise invalid("items", "no product fits")
        quantities = {rows[drawn % len(rows)]: quantity for drawn, quantity in order.lines}
        return [CreateOrderItem(view.product(row).sku, quantity) for row, quantity in quantities.items()]


def _fitting_rows(view: CustomerView, *, from_stock: bool) -> list[int]:
    rows: list[int] = []
    for row in view.snapshot.active:
        costs, available = view.unit_costs(row), view.available(row)
        if costs is None or costs.single > _DEAREST or (available < _ENOUGH if from_stock else available > 0):
            continue
        if (view.product(row).weight_kg or 0) <= _HEAVIEST:
            rows.append(row)
        if len(rows) == _MOST_ON_SHELF:
            break
    return rows


async def fill_history(database: Database, settings: Settings, secret: str) -> Filled | None:
    """Add what is missing of the history; return None if nothing is. The demo's data and people must be there."""
    begun = await _begun(database)
    if begun is None:
        return None
    happenings = await _missing(database, plan(uk_date(begun)))
    added, rejected = 0, []
    if happenings:
        reseller = reseller_from(settings)
        market = await open_market(database, reseller.policy, begun)
        filler = _Filler(reseller, market, await _people(database, secret, market), Shelf())
        for happening in happenings:
            try:
                await filler.add(database, happening)
                added += 1
            except DomainError as error:  # with another catalogue, an order may be impossible
                rejected.append(f"{happening.at:%Y-%m-%d %H:%M} {happening.deeds or happening.order}: {error}")
    async with reading(database) as tx:
        webhooks = await count_endpoints(tx, None)
    if not webhooks:
        await number_all(database)
        await add_demo_webhooks(database, settings, SYSTEM, begun)
    return Filled(added, rejected) if added else None


async def _begun(database: Database) -> datetime | None:
    """Return when the demo was loaded, or None if its first order is missing."""
    async with reading(database) as tx:
        try:
            first = await fetch_order(tx, demo_code(1))
        except DomainError:
            return None
    return first.created_at + DEMO_ORDERS[0].age


async def _missing(database: Database, happenings: Sequence[Happening]) -> list[Happening]:
    async with reading(database) as tx:
        done = await moments_done(tx, [happening.mark for happening in happenings])
    return [happening for happening in happenings if happening.mark not in done]


class _Filler(Struct, frozen=True):
    """Adds happenings; `people` are who acts in them, by role or e-mail address."""

    reseller: Reseller
    market: Market
    people: Mapping[str, Actor]
    shelf: Shelf

    async def add(self, database: Database, happening: Happening) -> None:
        """Add a happening in a transaction. Raises DomainError."""
        async with transaction(database) as tx:
            if happening.order is not None and happening.opened is not None:
                tx.actor = self.people.get(happening.order.customer, SYSTEM)
                await self._place(tx, happening.order, happening.subject, happening.opened)
            for deed in happening.deeds:
                buyer = happening.order.customer if happening.order else ""
                tx.actor = self.people.get(buyer if deed.by == "customer" else deed.by, SYSTEM)
                await deed.step(tx, happening.subject, self.reseller, deed.at)
            await drop_new_jobs(tx)

    async def _place(self, tx: Transaction, order: NewOrder, code: str, now: datetime) -> None:
        account = next((known for known in self.market.accounts if known.email_address == order.customer), None)
        if account is None:
            raise invalid("customer", "does not exist")
        context = self.market.contexts.of(account.id, now, code)
        items = self.shelf.items(context.view, account.id, order)
        await place(tx, order.kind, order.reference, items, context, account)


async def _people(database: Database, secret: str, market: Market) -> dict[str, Actor]:
    """Return the actors: staff by role, customers' owners by e-mail address, and the program of the warehouse."""
    people: dict[str, Actor] = {}
    async with reading(database) as tx:
        for role in ROLES:
            member = await find_staff_member(tx, staff_email(role))
            if member is not None:
                people[role] = Actor("staff", member.email, member.id)
        for account in market.accounts:
            user = await find_user(tx, account.email_address)
            if user is not None:
                people[account.email_address] = Actor("user", user.email, user.id)
        token = await find_token(tx, secret_hash(demo_token(secret)))
        if token is not None:
            people["program"] = Actor("token", token.name, token.id, acting_user="dispatch@reseller.example")
    return people
