"""Changes of the same address, and of the same customer, at the same moment: each is recorded as what it changes."""

from concurrent.futures import ThreadPoolExecutor

import psycopg

from support.orders import rows
from support.service import Service
from support.shop import ADDRESS
from support.waiting import waiting_for_a_lock
from tradecounter.customers.change_account import block_customer, unblock_customer

_CITIES = (
    "select before ->> 'city', after ->> 'city' from audit_entry"
    " where action = 'address.change' and subject = %s order by id"
)
_CHANGES = "select count(*) from unnumbered_event where type = 'customer.changed' and subject = %s"


def test_an_address_that_is_changed_there_and_back_at_once_is_changed_twice_in_the_audit_log(shop: Service) -> None:
    customer = shop.customer()
    saved = customer.post("/customer/address", {**ADDRESS, "city": "Leeds"}).json()
    subject = f"customer/{customer.id}"
    [(before,)] = rows(shop, _CHANGES, subject)

    def move(city: str) -> int:
        return customer.put(f"/customer/address/{saved['id']}", {**ADDRESS, "city": city}).status_code

    with ThreadPoolExecutor(2) as threads, psycopg.connect(shop.database_url) as holder:
        holder.execute("select from address where id = %s for update", [saved["id"]])
        moves = []
        for waiting, city in enumerate(("York", "Leeds"), 1):
            moves.append(threads.submit(move, city))
            waiting_for_a_lock(shop.database_url, processes=waiting)
        holder.commit()
        assert [moved.result(timeout=30) for moved in moves] == [200, 200]
    assert rows(shop, _CITIES, subject) == [("Leeds", "York"), ("York", "Leeds")]
    assert rows(shop, _CHANGES, subject) == [(before + 2,)]


def test_who_unblocks_a_customer_records_the_reason_of_the_latest_block(shop: Service) -> None:
    customer, now = shop.customer(), shop.clock.now()
    shop.in_transaction(lambda tx: block_customer(tx, customer.id, "first", now))
    with ThreadPoolExecutor(1) as threads, psycopg.connect(shop.database_url) as holder:
        holder.execute("update customer set blocked_reason = 'second' where id = %s", [customer.id])
        unblocked = threads.submit(lambda: shop.in_transaction(lambda tx: unblock_customer(tx, customer.id, now)))
        waiting_for_a_lock(shop.database_url)
        holder.commit()
        unblocked.result(timeout=30)
    reason = "select before ->> 'blocked_reason' from audit_entry where action = 'customer.unblock' and subject = %s"
    assert rows(shop, reason, f"customer/{customer.id}") == [("second",)]
