"""Orders of agents beside whatever else locks the same rows: nothing deadlocks, and no limit is exceeded."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, LiteralString

import psycopg
import pytest

from support.agent_consent import Connecting, call_list, connecting
from support.agents import Agent, agent, priced
from support.orders import create, in_parallel, outstanding, rows
from support.pages import Person, customer_user
from support.service import Customer, Service
from support.shop import STANDARD
from support.waiting import waiting_for_a_lock
from tradecounter.privacy.personal_data import erase_customer


@pytest.fixture
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.fixture
def owner(shop: Service, customer: Customer) -> Person:
    return customer_user(shop, customer.id, "owner")


@pytest.fixture
def program(shop: Service, owner: Person) -> Connecting:
    return connecting(shop, owner)


@contextmanager
def waiting(service: Service, work: Any, statement: LiteralString, value: Any) -> Iterator[psycopg.Connection[Any]]:
    """Lock rows, have `work` wait for them, and let it go on after the block; it must not fail."""
    with ThreadPoolExecutor(1) as threads, psycopg.connect(service.database_url) as holder:
        holder.execute(statement, [value])
        running: Future[Any] = threads.submit(work)
        waiting_for_a_lock(service.database_url)
        yield holder
        holder.commit()
        running.result(timeout=30)


def test_an_erasure_locks_agents_before_orders_as_their_orders_do(
    shop: Service, customer: Customer, program: Connecting
) -> None:
    program.tokens()
    asked = create(customer)["confirmation_code"]
    rows(shop, "update orders set state = 'expired' where confirmation_code = %s returning id", asked)

    def erase() -> None:
        shop.in_transaction(partial(erase_customer, customer_id=customer.id, now=shop.clock.now()))

    with waiting(shop, erase, "select from agent_consent where customer_id = %s for update", customer.id) as holder:
        # As an order of the agent goes on. If the erasure had locked the order, each would wait for the other.
        holder.execute("select from orders where confirmation_code = %s for update nowait", [asked])


def test_approval_is_asked_for_behind_the_orders_lock(shop: Service, customer: Customer, owner: Person) -> None:
    buyer = customer_user(shop, customer.id, "buyer")
    code = create(customer)["confirmation_code"]
    path = f"/account/new-order/{code}/approval"

    def ask() -> None:
        assert buyer.send(path, {"shipping_method": str(STANDARD), "note": "Please"}).status_code == 409

    with waiting(shop, ask, "select id from orders where confirmation_code = %s for update", code) as holder:
        # As an agent's order does, which asks for approval too. If the user's request came first, this would deadlock.
        holder.execute(
            "insert into order_approval (order_id, requested_by, requested_at, shipping_method, gross, note)"
            " select id, %s, now(), 11, 100, '' from orders where confirmation_code = %s",
            [owner.id, code],
        )


@pytest.mark.sweep
def test_an_agent_that_is_revoked_while_its_order_waits_buys_nothing(
    shop: Service, customer: Customer, program: Connecting
) -> None:
    helper = program.agent()
    asked = priced(helper)

    def confirm() -> None:
        assert helper.error("confirm_order", **asked)["code"] == "access_denied"

    with waiting(
        shop, confirm, "update agent_consent set ended_at = now() where customer_id = %s and ended_at is null",
        customer.id,
    ):  # fmt: skip
        pass
    assert rows(shop, "select state from orders where customer_id = %s", customer.id) == [("pending",)]


def test_reading_does_not_wait_for_an_order_of_the_agent(
    shop: Service, customer: Customer, program: Connecting
) -> None:
    token = program.tokens()["access_token"]
    with psycopg.connect(shop.database_url) as holder:
        holder.execute("select from agent_consent where customer_id = %s for update", [customer.id])
        assert call_list(shop, token).status_code == 200
    used = "select last_used_at is not null from agent_consent where customer_id = %s"
    assert rows(shop, used, customer.id) == [(False,)]
    assert call_list(shop, token).status_code == 200
    assert rows(shop, used, customer.id) == [(True,)]


@pytest.mark.sweep
def test_neither_the_day_nor_the_credit_is_exceeded_beside_a_key(shop: Service) -> None:
    """The agent may spend three orders a day; the credit pays for five, which a key and the agent compete for."""
    probe = shop.customer()
    total = priced(agent(shop, probe.key))["total"]
    customer = shop.customer(credit_limit=5 * total)
    program = connecting(shop, customer_user(shop, customer.id, "owner"))
    by_agent, by_key = program.agent(order_limit=f"{total}", day_limit=f"{3 * total:.2f}"), agent(shop, customer.key)
    helpers = [by_agent, by_key] * 6
    asked = [priced(by_key) for _ in helpers]

    def confirm(helper: Agent, wanted: dict[str, Any]) -> tuple[bool, str]:
        found = helper.use(lambda client: client.call_tool("confirm_order", wanted)).structured_content
        return helper is by_agent, found["code"]

    done = Counter(in_parallel([partial(confirm, *each) for each in zip(helpers, asked, strict=True)]))
    agents, keys = done[True, "confirmed"], done[False, "confirmed"]
    assert set(done) <= {
        (True, "confirmed"), (True, "approval_needed"), (True, "credit_exceeded"),
        (False, "confirmed"), (False, "credit_exceeded"),
    }  # fmt: skip
    assert agents <= 3
    assert agents + keys == 5
    assert float(outstanding(shop, customer)) == pytest.approx(5 * total)
    [(spent,)] = rows(shop, "select coalesce(sum(gross), 0) from agent_order where customer_id = %s", customer.id)
    assert float(spent) == pytest.approx(agents * total)
