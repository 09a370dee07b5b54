"""Changes of the same address and of the same customer at the same moment: each knows what the other has left."""

from concurrent.futures import ThreadPoolExecutor

import psycopg

from support.backoffice import backoffice_of
from support.mail import forget_jobs
from support.orders import buy, rows
from support.people import SECRET
from support.service import Service
from support.shop import ADDRESS
from support.waiting import waiting_for_a_lock
from tradecounter.access.users import invite_user
from tradecounter.customers.change_account import block_customer, unblock_customer
from tradecounter.kit.errors import DomainError, Kind

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


def test_an_order_that_is_amended_with_an_external_id_is_locked_after_the_lock_on_serving(shop: Service) -> None:
    placed = buy(shop.customer())
    change = {"external_id": "ERP-AT-ONCE", "customer_reference": "PO-AT-ONCE"}
    with backoffice_of(shop) as office, psycopg.connect(shop.database_url) as serving, ThreadPoolExecutor(1) as threads:
        client = office.client(office.token("orders:write"))
        serving.execute("select pg_advisory_xact_lock(7274302)")
        amended = threads.submit(client.patch, f"/api/order/{placed['order_id']}", json=change)
        waiting_for_a_lock(shop.database_url)
        serving.execute("select from orders where id = %s for no key update", [placed["order_id"]])
        serving.commit()
        found = amended.result(timeout=30).json()
    assert {name: found[name] for name in change} == change


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


def test_of_two_owners_who_are_invited_as_buyers_at_once_one_stays_an_owner(shop: Service) -> None:
    customer, now = shop.customer(email_address="first@two.example"), shop.clock.now()
    shop.in_transaction(lambda tx: invite_user(tx, customer.id, "second@two.example", "owner", SECRET, now))

    def invite_as_buyer(email: str) -> Kind | None:
        try:
            shop.in_transaction(lambda tx: invite_user(tx, customer.id, email, "buyer", SECRET, now))
        except DomainError as error:
            return error.kind
        return None

    with ThreadPoolExecutor(2) as threads, psycopg.connect(shop.database_url) as holder:
        holder.execute("select from customer where id = %s for no key update", [customer.id])
        invited = [threads.submit(invite_as_buyer, f"{name}@two.example") for name in ("first", "second")]
        waiting_for_a_lock(shop.database_url, processes=2)
        holder.commit()
        assert sorted((result.result(timeout=30) for result in invited), key=str) == [Kind.CONFLICT, None]
    forget_jobs(shop)
