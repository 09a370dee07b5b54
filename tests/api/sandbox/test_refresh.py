"""Filling a sandbox from the live database, with two real databases."""

import asyncio
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from time import perf_counter

import psycopg
import pytest

from support.cluster import Cluster
from support.mail import deliver_mail
from support.orders import buy, rows, sell
from support.proxy import linked
from support.sandbox import live
from support.service import MORNING, Customer, Service, running_service
from support.shop import stock_shop
from support.waiting import waiting_for_a_lock
from tradecounter.identity.queries.api_keys import add_key
from tradecounter.kit.errors import DomainError
from tradecounter.sandbox.queries import COPIED, SourceError, opened
from tradecounter.sandbox.refresh import refresh_sandbox
from tradecounter.settings import SettingsError
from tradecounter.sites.commands.service import require_secret
from tradecounter.sites.schedule import EVERY_NIGHT, sandbox_jobs

pytestmark = pytest.mark.sweep  # seconds for each of its stories

# The tables that a refresh may write, besides those that it copies.
_WRITTEN = {
    "alembic_version", "announced", "audit_entry", "catalogue_change", "catalogue_layout", "change", "installation",
}  # fmt: skip


@dataclass
class Two:
    """A live site and its sandbox."""

    live: Service
    sandbox: Service

    def refresh(self, now: datetime = MORNING) -> dict[str, int]:
        url = self.live.database_url
        done = self.sandbox.in_transaction(lambda tx: refresh_sandbox(tx, url, now))
        self.sandbox.refresh()
        return done


@pytest.fixture
def two(postgres: Cluster) -> Iterator[Two]:
    with (
        postgres.database() as live_url,
        postgres.database() as url,
        running_service(live_url) as service,
        running_service(url, sandbox=True) as sandbox,
    ):
        stock_shop(service)
        yield Two(service, sandbox)


def with_key(two: Two, customer: Customer) -> Customer:
    """A customer of the live site with a key of the sandbox."""
    service = two.sandbox
    key = service.in_transaction(lambda tx: add_key(tx, customer.id, "test", MORNING)).key
    service.refresh()
    return Customer(customer.id, key, service.client(**{"X-Api-Key": key}))


def count(service: Service, table: str) -> int:
    [(found,)] = rows(service, f"select count(*) from {table}")  # noqa: S608
    return int(found)


def test_products_prices_stock_and_terms_come_without_anything_that_names_a_customer(two: Two) -> None:
    service = two.live
    customer = service.customer(
        company="Harbour Ltd", first_name="Ada", external_id="ERP-1", accounts_email="a@b.example"
    )
    sku = sell(service, "COPIED", 20, available=7, purchase_cost=3)
    service.must_load("contract-prices", [{"customer_id": customer.id, "sku": sku, "single_unit_cost": 15}])
    buy(customer, [(sku, 2)])
    done = two.refresh()
    assert (done["customer"], done["product"]) == (
        count(service, "customer"),
        count(service, "product"),
    )
    own = with_key(two, customer)
    product = own.get(f"/product/{sku}").json()
    assert (product["single_unit_cost"], product["availability"]["available"]) == (15, 5)
    account = own.get("/customer").json()
    assert (account["first_name"], account["email_address"]) == ("Customer", f"customer-{customer.id}@sandbox.invalid")
    assert account["credit_terms"] == customer.get("/customer").json()["credit_terms"]
    copied = {each.table for each in COPIED}
    with psycopg.connect(two.sandbox.database_url) as connection:
        names = [name for (name,) in connection.execute("select tablename from pg_tables where schemaname = 'public'")]
        text = "".join(str(connection.execute(f"select * from {name}").fetchall()) for name in names)  # noqa: S608
    filled = {name for name in names if count(two.sandbox, name) and not name.startswith("procrastinate")}
    assert filled - copied - _WRITTEN - {"api_key"} <= {
        "event_sequence",
        "invoice_number",
        "credit_note_number",
        "secret_key",
        "issuer_key",
    }
    for secret in ("Harbour", "Ada", "ERP-1", "a@b.example", customer.key, "Test Street"):
        assert secret not in text


def test_what_the_sandbox_has_of_its_own_stays_and_what_the_live_site_changes_comes(two: Two) -> None:
    service = two.live
    customer = service.customer()
    sku, gone = sell(service, "KEPT", 20, available=9), sell(service, "GONE", 5, available=1)
    two.refresh()
    own = with_key(two, customer)
    placed = buy(own, [(sku, 2)])
    service.must_load("price-list", [{"price_list": "default", "sku": sku, "single_unit_cost": 21}])
    service.must_load("products", [{"sku": gone, "active": False}])
    service.must_load("stock", [{"sku": sku, "available": 30}])
    assert sum(two.refresh().values()) > 0
    assert own.get(f"/product/{sku}").json()["single_unit_cost"] == 21
    assert own.get(f"/product/{gone}").status_code == 404
    assert own.get(f"/order/{placed['order_id']}").json()["items"][0]["quantity"] == 2
    level = "select available, allocated from stock_level s join product p on p.id = product_id where sku = %s"
    assert rows(two.sandbox, level, sku) == [(30, 2)]
    live(two.sandbox)
    assert own.get(f"/order/{placed['order_id']}").json()["status"] == "Dispatched"
    assert sum(two.refresh().values()) == 0
    assert count(service, "orders") == 0


def test_a_refresh_locks_customers_and_stock_in_the_order_of_orders(two: Two) -> None:
    customer, sku = two.live.customer(), sell(two.live, "LOCKED", available=5)
    two.refresh()
    two.live.must_load("stock", [{"sku": sku, "available": 4}])
    rows(two.live, "update customer set term_days = 7 where id = %s returning id", customer.id)
    with ThreadPoolExecutor(1) as threads, psycopg.connect(two.sandbox.database_url) as order:
        order.execute("select from customer where id = %s for no key update", [customer.id])
        refreshed = threads.submit(two.refresh)
        waiting_for_a_lock(two.sandbox.database_url)
        order.execute("select from stock_level for update")
        order.commit()
        assert sum(refreshed.result(timeout=30).values()) == 2


def test_thousands_of_changed_products_are_refreshed_as_fast_as_new_ones(two: Two) -> None:
    def seconds(name: str) -> float:
        products = [{"sku": f"MANY-{number}", "name": name, "manufacturer": "acme"} for number in range(2500)]
        two.live.must_load("products", products)
        began = perf_counter()
        assert two.refresh()["product"] >= len(products)
        return perf_counter() - began

    two.live.must_load("manufacturers", [{"key": "acme", "name": "Acme"}])
    new = seconds("New")
    assert seconds("Changed") < 4 * new


def test_the_worker_refreshes_it_every_night(two: Two) -> None:
    def changed(source: str | None) -> int:
        settings = replace(two.sandbox.settings, sandbox_source=source)
        [job] = [job for job in sandbox_jobs(settings, two.sandbox.commands) if job.cron == EVERY_NIGHT]
        return two.sandbox.in_transaction(lambda tx: job.work(tx, MORNING))

    assert changed(None) == 0
    assert changed(two.live.database_url) > 0
    assert count(two.sandbox, "product") == count(two.live, "product")


def test_a_refresh_that_fails_says_why(two: Two) -> None:
    job = "insert into procrastinate_jobs (queue_name, task_name, args) values ('default', 'sandbox_refresh', %s)"
    rows(two.sandbox, f"{job} returning id", '{"timestamp": 0}')
    deliver_mail(two.sandbox, sandbox_source="postgresql://127.0.0.1:1/nowhere")
    [(why,)] = rows(two.sandbox, "select data ->> 'message' from event where type = 'job.failed'")
    assert "live database" in why


def test_the_live_database_is_only_read_and_no_database_in_use_becomes_a_sandbox(two: Two) -> None:
    two.live.customer()
    url = two.live.database_url
    with pytest.raises(DomainError, match="needs a database of its own"):
        two.live.in_transaction(lambda tx: refresh_sandbox(tx, url, MORNING))
    two.refresh()
    with pytest.raises(SourceError, match="is a sandbox itself"):
        two.sandbox.in_transaction(lambda tx: refresh_sandbox(tx, two.sandbox.database_url, MORNING))
    assert rows(two.live, "select sandbox from installation") == [(False,)]
    with pytest.raises(SourceError, match="cannot be read"):
        two.sandbox.in_transaction(lambda tx: refresh_sandbox(tx, "postgresql://localhost:1/none", MORNING))
    with psycopg.connect(two.live.database_url) as owner:
        owner.execute("alter table synonym_group rename to renamed")
    with pytest.raises(SourceError, match=r'cannot be read: .*"synonym_group" does not exist'):
        two.refresh()
    with psycopg.connect(two.live.database_url) as owner:
        owner.execute("alter table renamed rename to synonym_group")


def test_no_service_starts_on_the_database_of_the_other_kind(two: Two) -> None:
    two.refresh()
    for service, other in ((two.live, two.sandbox), (two.sandbox, two.live)):
        require_secret(service.settings, service.database_url)
        with pytest.raises(SettingsError, match="TRADECOUNTER_SANDBOX"):
            require_secret(service.settings, other.database_url)


def test_a_live_database_that_vanishes_is_noticed_within_seconds(database_url: str) -> None:
    async def work() -> int:
        with linked(database_url) as link:
            async with opened(link.url) as source:
                with socket.fromfd(source.connection.fileno(), socket.AF_INET, socket.SOCK_STREAM) as same:
                    return same.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)

    assert asyncio.run(work()) == 15_000  # the system would only notice after hours
