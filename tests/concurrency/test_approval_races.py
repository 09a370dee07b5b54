"""An order that waits for approval is confirmed by somebody else while its approver decides."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import httpx2
import psycopg
import pytest

from support.approvals import asked
from support.orders import confirm, faults_in_the_books, rows
from support.pages import customer_user, text_of
from support.service import Service
from support.waiting import waiting_for_a_lock


@pytest.mark.parametrize("step", ["approve", "decline"])
def test_an_approver_decides_nothing_about_an_order_that_somebody_else_has_confirmed(shop: Service, step: str) -> None:
    customer = shop.customer()
    code, _ = asked(shop, customer)
    approver = customer_user(shop, customer.id, "approver")

    def decide() -> httpx2.Response:
        return approver.send(f"/account/approval/{code}/{step}", {"reason": "No"})

    with ThreadPoolExecutor(2) as threads, psycopg.connect(shop.database_url) as holder:
        holder.execute("select from orders where confirmation_code = %s for update", [code])
        confirmed = threads.submit(confirm, customer, {"confirmation_code": code})
        waiting_for_a_lock(shop.database_url)
        decided = threads.submit(decide)
        waiting_for_a_lock(shop.database_url, processes=2)
        holder.commit()
        assert confirmed.result(timeout=30).status_code == 200
        assert decided.result(timeout=30).status_code == 409
    assert rows(shop, "select state from order_approval where order_id = (select id from orders where"
                      " confirmation_code = %s)", code) == [("waiting",)]  # fmt: skip
    entries = "select count(*) from audit_entry where action in ('order.approve', 'order.decline_approval')"
    assert rows(shop, entries) == [(0,)]
    assert faults_in_the_books(shop) == {}


def test_an_order_that_two_approvers_price_again_at_once_is_priced_once(own_shop: Service) -> None:
    customer = own_shop.customer()
    code, _ = asked(own_shop, customer)
    own_shop.clock.set(own_shop.clock.now() + timedelta(hours=25))
    approvers = [customer_user(own_shop, customer.id, "approver") for _ in range(2)]
    with ThreadPoolExecutor(2) as threads, psycopg.connect(own_shop.database_url) as holder:
        holder.execute("select from orders where confirmation_code = %s for update", [code])
        sent = [threads.submit(approver.send, f"/account/approval/{code}/price") for approver in approvers]
        waiting_for_a_lock(own_shop.database_url, processes=2)
        holder.commit()
        found = sorted((each.result(timeout=30) for each in sent), key=lambda response: response.status_code)
    assert [response.status_code for response in found] == [303, 409]
    assert "It was priced again, and is £" in text_of(found[1])
    assert rows(own_shop, "select count(*) from orders") == [(2,)]
