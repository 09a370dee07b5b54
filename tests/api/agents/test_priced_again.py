"""What an agent learns of an order above its limit that expired, and that people of the customer priced again."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from support.agent_consent import Connecting, connecting, with_token
from support.agents import Agent, priced
from support.orders import rows
from support.pages import Person, customer_user, signed_in_again, text_of
from support.service import Service

pytestmark = pytest.mark.sweep

APPROVAL = "/account/approval"


@dataclass
class Expired:
    """An order above the limits of its agent, which nobody has approved in time; phones have become dearer."""

    shop: Service
    program: Connecting
    tokens: dict[str, Any]
    asked: dict[str, Any]
    owner: Person

    def later(self) -> None:
        """Let prices expire, and everybody sign in again."""
        self.shop.clock.advance(timedelta(hours=25))
        self.shop.refresh()
        self.tokens = self.program.refresh(self.tokens["refresh_token"]).json()
        signed_in_again(self.shop, self.owner)

    @property
    def helper(self) -> Agent:
        return with_token(self.shop, self.tokens["access_token"])

    @property
    def code(self) -> str:
        return str(self.asked["confirmation_code"])

    def confirm(self) -> Any:
        return self.helper.call("confirm_order", **self.asked)

    def price_again(self, code: str = "") -> str:
        """The code of the order that takes its place."""
        response = self.owner.send(f"{APPROVAL}/{code or self.code}/price")
        assert response.status_code == 303, response.text
        return response.headers["Location"].rpartition("/")[2]

    def state(self, code: str) -> str:
        [(state,)] = rows(self.shop, "select state from orders where confirmation_code = %s", code)
        return str(state)


@pytest.fixture
def expired(own_shop: Service) -> Expired:
    owner = customer_user(own_shop, own_shop.customer().id, "owner")
    program = connecting(own_shop, owner)
    tokens = program.tokens(order_limit="1", day_limit="1")
    asked = priced(with_token(own_shop, tokens["access_token"]))
    made = Expired(own_shop, program, tokens, asked, owner)
    assert made.confirm()["code"] == "approval_needed"
    own_shop.must_load("price-list", [{"price_list": "default", "sku": "PHONE", "single_unit_cost": 60}])
    made.later()
    return made


def test_an_order_that_expired_unapproved_can_still_be_priced_again_and_the_agent_is_told_so(expired: Expired) -> None:
    error = expired.helper.error("confirm_order", **expired.asked)
    assert error["code"] == "expired"
    assert "can still price it again" in error["message"]
    assert "Price it again" in expired.owner.get(f"{APPROVAL}/{expired.code}").text


def test_the_former_code_tells_of_the_new_order_and_never_buys_it(expired: Expired) -> None:
    new = expired.price_again()
    waiting = expired.confirm()
    assert waiting["code"] == "approval_needed"
    assert f"was priced again, is £{total_of(expired, new):.2f} now, and waits for approval" in waiting["message"]
    expired.asked["total"] = total_of(expired, new)
    assert expired.confirm()["code"] == "approval_needed"
    assert expired.helper.call("confirm_order", **{**expired.asked, "confirmation_code": new})["code"] == (
        "approval_needed"
    )
    assert expired.state(new) == "pending"


def test_the_former_code_gets_the_order_that_people_approved_at_its_new_total(expired: Expired) -> None:
    new = expired.price_again()
    total = total_of(expired, new)
    assert total > expired.asked["total"]
    expired.owner.sends(f"{APPROVAL}/{new}/approve")
    first, again = expired.confirm(), expired.confirm()
    assert first == again
    assert first["code"] == "confirmed"
    assert first["order"]["confirmation_code"] == new
    assert f"£{total:.2f} with VAT and shipping" in first["message"]
    [(before, after)] = rows(expired.shop, "select before, after from audit_entry where action = 'order.price_again'")
    assert (float(before["total_gross"]), float(after["total_gross"])) == (expired.asked["total"], total)


def test_the_former_code_tells_that_people_declined_the_new_order(expired: Expired) -> None:
    new = expired.price_again()
    expired.owner.sends(f"{APPROVAL}/{new}/decline", {"reason": "Too dear now"})
    found = expired.confirm()
    assert (found["code"], "Too dear now" in found["message"]) == ("declined", True)


def test_an_order_that_is_priced_again_twice_is_told_by_each_of_its_codes(expired: Expired) -> None:
    second = expired.price_again()
    expired.later()
    third = expired.price_again(second)
    expired.owner.sends(f"{APPROVAL}/{third}/approve")
    for code in (expired.code, second, third):
        found = expired.helper.call("confirm_order", **{**expired.asked, "confirmation_code": code})
        assert found["order"]["confirmation_code"] == third
    assert text_of(expired.owner.get(f"{APPROVAL}/{expired.code}")) == text_of(expired.owner.get(f"{APPROVAL}/{third}"))


def test_nobody_decides_about_a_new_price_by_the_former_code(expired: Expired) -> None:
    new = expired.price_again()
    for step, fields in (("approve", {"once": ""}), ("decline", {"reason": "No"}), ("price", {"once": ""})):
        response = expired.owner.send(f"{APPROVAL}/{expired.code}/{step}", fields)
        assert response.status_code == 409
        assert "It was priced again" in response.text
    assert expired.state(new) == "pending"


def test_of_several_who_price_it_again_at_once_one_does(expired: Expired) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: expired.owner.send(f"{APPROVAL}/{expired.code}/price").status_code, range(4)))
    assert sorted(found) == [303, 409, 409, 409]
    pending = "select count(*) from orders where state = 'pending' and expires_at > %s"
    assert rows(expired.shop, pending, expired.shop.clock.now()) == [(1,)]
    assert expired.confirm()["code"] == "approval_needed"


def test_another_customers_agent_learns_nothing_by_the_former_code(expired: Expired) -> None:
    expired.price_again()
    other = connecting(expired.shop, customer_user(expired.shop, expired.shop.customer().id, "owner"))
    assert other.agent().error("confirm_order", **expired.asked)["code"] == "not_found"
    assert other.person.get(f"{APPROVAL}/{expired.code}").status_code == 404


def total_of(expired: Expired, code: str) -> float:
    [(gross,)] = rows(
        expired.shop,
        "select a.gross from order_approval a join orders o on o.id = a.order_id where o.confirmation_code = %s",
        code,
    )
    return float(gross)
