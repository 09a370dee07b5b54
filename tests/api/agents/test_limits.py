"""Agents order within what a person has allowed; dearer orders wait for the customer's people."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from support.agent_consent import Connecting, connecting, with_token
from support.agents import Agent, priced
from support.mail import deliver_mail, html, plain
from support.orders import at, rows
from support.pages import Person, customer_user, fields_of, text_of
from support.quotes import price_as_support, request_quote
from support.service import Customer, Service, running_service
from support.shop import STANDARD, order

pytestmark = pytest.mark.sweep  # seconds for each of its stories


@pytest.fixture
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.fixture
def owner(shop: Service, customer: Customer) -> Person:
    return customer_user(shop, customer.id, "owner")


@pytest.fixture
def program(shop: Service, owner: Person) -> Connecting:
    return connecting(shop, owner)


@pytest.fixture
def total(program: Connecting) -> float:
    """What an order of one phone costs."""
    found: float = priced(program.agent())["total"]
    return found


def test_an_order_at_its_limits_is_confirmed(program: Connecting, total: float) -> None:
    helper = program.agent(order_limit=str(total), day_limit=str(total))
    assert helper.call("confirm_order", **priced(helper))["code"] == "confirmed"


def test_an_order_above_the_limit_of_one_waits_until_it_is_approved(
    shop: Service, program: Connecting, owner: Person, total: float
) -> None:
    helper = program.agent(order_limit=f"{total - 0.01:.2f}", day_limit="10000")
    asked = priced(helper)
    waiting = helper.call("confirm_order", **asked)
    assert waiting["code"] == "approval_needed"
    assert "order" not in waiting
    assert f"£{total - 0.01:.2f} for one order" in waiting["message"]
    assert helper.call("confirm_order", **asked)["code"] == "approval_needed"
    code = asked["confirmation_code"]
    assert rows(shop, "select state from orders where confirmation_code = %s", code) == [("pending",)]
    assert f"Asked by the agent Assistant: above the limit of £{total - 0.01:.2f}" in text_of(
        owner.get(f"/account/approval/{code}")
    )
    for path in ("/account/approval", f"/account/approval/{code}", "/account"):
        assert f"the agent Assistant, allowed by {owner.email}" in text_of(owner.get(path))
    assert owner.send(f"/account/approval/{code}/approve").status_code == 303
    confirmed = helper.call("confirm_order", **asked)
    assert confirmed["code"] == "confirmed"
    assert confirmed["order"]["order_reference"] in confirmed["message"]
    [(event,)] = rows(
        shop, "select action from audit_entry where actor_kind = 'agent' and action like '%%approval' and actor_id = "
        "(select id::text from agent_consent where client_id = %s order by id desc limit 1)", program.client_id,
    )  # fmt: skip
    assert event == "order.request_approval"


def test_the_e_mail_to_approvers_names_the_agent_and_who_allowed_it(
    shop: Service, program: Connecting, owner: Person
) -> None:
    helper = program.agent(order_limit="1", day_limit="1")
    helper.call("confirm_order", **priced(helper))
    [mail] = [
        mail for mail in deliver_mail(shop) if mail["Subject"].startswith("To approve") and owner.email in mail["To"]
    ]
    for text in (plain(mail), html(mail)):
        assert f"the agent Assistant, allowed by {owner.email}" in text


def test_an_order_that_people_confirm_by_another_method_is_told_as_it_is(program: Connecting, owner: Person) -> None:
    helper = program.agent(order_limit="1", day_limit="1")
    found = helper.call("price_order", **order([("PHONE", 1)]))
    cheapest, *_, dearest = sorted(found["shipping_options"], key=lambda option: option["total_gross"])
    asked = {"confirmation_code": found["confirmation_code"], "shipping_method": cheapest["id"]}
    asked["total"] = cheapest["total_gross"]
    assert helper.call("confirm_order", **asked)["code"] == "approval_needed"
    owner.sends(f"/account/new-order/{found['confirmation_code']}", {"shipping_method": str(dearest["id"])})
    confirmed = helper.call("confirm_order", **asked)
    assert confirmed["code"] == "confirmed"
    assert f"{dearest['total_gross']:.2f} with VAT and shipping" in confirmed["message"]


def test_a_declined_order_is_told_with_its_reason(program: Connecting, owner: Person) -> None:
    helper = program.agent(order_limit="1", day_limit="1")
    asked = priced(helper)
    helper.call("confirm_order", **asked)
    owner.send(f"/account/approval/{asked['confirmation_code']}/decline", {"reason": "Too many phones"})
    found = helper.call("confirm_order", **asked)
    assert found["code"] == "declined"
    assert "Too many phones" in found["message"]


def test_a_declined_quote_that_was_priced_again_is_asked_for_again(
    shop: Service, customer: Customer, program: Connecting, owner: Person
) -> None:
    quote = request_quote(customer, [("PHONE", 10)])
    code = quote["confirmation_code"]
    price_as_support(shop, quote, ("PHONE", "30.00"))
    helper = program.agent(order_limit="1", day_limit="1")

    def confirmed(total: float) -> str:
        found: str = helper.call("confirm_order", confirmation_code=code, shipping_method=STANDARD, total=total)["code"]
        return found

    assert confirmed(372) == "approval_needed"
    owner.send(f"/account/approval/{code}/decline", {"reason": "Too dear"})
    assert confirmed(372) == "declined"
    with at(shop, shop.clock.now() + timedelta(seconds=1)):
        price_as_support(shop, quote, ("PHONE", "25.00"))
        assert [confirmed(312), confirmed(312)] == ["approval_needed"] * 2
        page = owner.get(f"/account/approval/{code}")
        assert "Asked by the agent Assistant: priced again since it was declined." in text_of(page)
        owner.sends(f"/account/approval/{code}/approve", fields_of(page))
        assert confirmed(312) == "confirmed"


def test_an_agent_is_not_told_that_an_expired_quote_can_be_priced_again(
    shop: Service, customer: Customer, program: Connecting
) -> None:
    quote = request_quote(customer, [("PHONE", 10)])
    price_as_support(shop, quote, ("PHONE", "30.00"))
    code = quote["confirmation_code"]
    asked = {"confirmation_code": code, "shipping_method": STANDARD, "total": 372}
    tokens = program.tokens(order_limit="1", day_limit="1")
    helper = with_token(shop, tokens["access_token"])
    assert helper.call("confirm_order", **asked)["code"] == "approval_needed"
    [(expires_at,)] = rows(shop, "select expires_at from orders where confirmation_code = %s", code)
    with at(shop, expires_at + timedelta(seconds=1)):
        helper = with_token(shop, program.refresh(tokens["refresh_token"]).json()["access_token"])
        error = helper.error("confirm_order", **asked)
        assert (error["code"], "price it again" in error["message"]) == ("expired", False)
        assert "This quote has expired." in text_of(
            customer_user(shop, customer.id, "owner").get(f"/account/approval/{code}")
        )


def test_an_order_that_nobody_approves_expires(own_shop: Service) -> None:
    program = connecting(own_shop, customer_user(own_shop, own_shop.customer().id, "owner"))
    tokens = program.tokens(order_limit="1", day_limit="1")
    helper = with_token(own_shop, tokens["access_token"])
    asked = priced(helper)
    helper.call("confirm_order", **asked)
    own_shop.clock.advance(timedelta(hours=24, seconds=1))
    helper = with_token(own_shop, program.refresh(tokens["refresh_token"]).json()["access_token"])
    assert helper.error("confirm_order", **asked)["code"] == "expired"


def test_a_day_is_one_in_the_united_kingdom(own_shop: Service) -> None:
    owner = customer_user(own_shop, own_shop.customer().id, "owner")
    program = connecting(own_shop, owner)
    cost = priced(program.agent())["total"]
    tokens = program.tokens(order_limit=str(cost), day_limit=f"{2 * cost - 0.01:.2f}")
    helper = with_token(own_shop, tokens["access_token"])
    assert helper.call("confirm_order", **priced(helper))["code"] == "confirmed"
    found = helper.call("confirm_order", **priced(helper))
    assert found["code"] == "approval_needed"
    assert f"a day: £{cost:.2f} is spent today" in found["message"]
    agents = "/account/developer/agent"
    assert f"£{cost:.2f} spent today" in text_of(owner.get(agents))
    until_midnight = timedelta(hours=23) - timedelta(hours=own_shop.clock.now().hour)  # 23:00 UTC is midnight in June
    own_shop.clock.advance(until_midnight)
    assert "spent today" not in text_of(owner.get(agents))
    helper = with_token(own_shop, program.refresh(tokens["refresh_token"]).json()["access_token"])
    assert helper.call("confirm_order", **priced(helper))["code"] == "confirmed"


def test_what_people_approve_does_not_use_up_the_day(program: Connecting, owner: Person, total: float) -> None:
    helper = program.agent(order_limit=str(total), day_limit=str(total))
    dear = priced(helper, 3)
    assert helper.call("confirm_order", **dear)["code"] == "approval_needed"
    owner.send(f"/account/approval/{dear['confirmation_code']}/approve")
    assert helper.call("confirm_order", **priced(helper))["code"] == "confirmed"


def test_confirming_again_uses_the_day_up_once(program: Connecting, total: float) -> None:
    helper = program.agent(order_limit=str(total), day_limit=f"{2 * total:.2f}")
    asked = priced(helper)
    first, again = (helper.call("confirm_order", **asked) for _ in range(2))
    assert first == again
    assert helper.call("confirm_order", **priced(helper))["code"] == "confirmed"


def test_a_second_consent_gives_the_same_agent_no_second_day(program: Connecting, shop: Service, total: float) -> None:
    other = Connecting(shop, customer_user(shop, rows(
        shop, "select customer_id from customer_user where id = %s", program.person.id)[0][0], "developer"),
        program.client_id)  # fmt: skip
    for allowed, code in ((program, "confirmed"), (other, "approval_needed")):
        helper = allowed.agent(order_limit=str(total), day_limit=str(total))
        assert helper.call("confirm_order", **priced(helper))["code"] == code


@pytest.fixture
def both(shop: Service) -> Iterator[tuple[Service, Service]]:
    """Two processes of the same service."""
    with running_service(shop.database_url, now=shop.clock.now()) as other:
        yield shop, other


@pytest.mark.sweep
def test_the_day_holds_under_confirmations_at_the_same_time_in_two_processes(
    both: tuple[Service, Service], program: Connecting, total: float
) -> None:
    token = program.tokens(order_limit=str(total), day_limit=f"{3 * total:.2f}")["access_token"]
    helpers = [with_token(each, token) for each in both]
    orders = [priced(helpers[0]) for _ in range(8)]
    ready = threading.Barrier(len(orders))

    def confirmed(number: int) -> str:
        ready.wait()
        code: str = helpers[number % 2].call("confirm_order", **orders[number])["code"]
        return code

    with ThreadPoolExecutor(len(orders)) as pool:
        found = list(pool.map(confirmed, range(len(orders))))
    assert sorted(found) == ["approval_needed"] * 5 + ["confirmed"] * 3
    [(spent,)] = rows(both[0], "select sum(gross) from agent_order where client_id = %s", program.client_id)
    assert float(spent) == pytest.approx(3 * total)


def test_processes_take_turns(both: tuple[Service, Service], program: Connecting) -> None:
    tokens = program.tokens()
    first, second = (with_token(each, tokens["access_token"]) for each in both)
    asked = priced(first)
    assert second.call("confirm_order", **asked)["code"] == "confirmed"
    reference = first.call("confirm_order", **asked)["order"]["order_reference"]
    assert second.call("get_order", reference=reference)["order_reference"] == reference


def test_a_revoked_agent_buys_nothing_more_with_orders_that_it_priced(
    shop: Service, program: Connecting, owner: Person
) -> None:
    token = program.tokens()["access_token"]
    helper = with_token(shop, token)
    orders = [priced(helper) for _ in range(4)]
    [(agent_id,)] = rows(shop, "select id from agent_consent where client_id = %s", program.client_id)
    owner.send(f"/account/developer/agent/{agent_id}/revoke")
    for asked in orders:
        with pytest.raises(BaseExceptionGroup):
            helper.call("confirm_order", **asked)
    codes = [asked["confirmation_code"] for asked in orders]
    assert rows(shop, "select distinct state from orders where confirmation_code = any(%s)", codes) == [("pending",)]


def test_keys_have_no_limits(shop: Service, customer: Customer) -> None:
    helper = Agent(shop, {"X-Api-Key": customer.key})
    assert helper.call("confirm_order", **priced(helper, 50))["code"] == "confirmed"
