"""A process notices changes by itself, with the settings that it has by default (specification, section 8)."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import psycopg
import pytest

from support.orders import sell
from support.service import Customer, Service, running_service
from support.shop import price, product
from support.waiting import wait_for
from tradecounter.settings import Settings

MOST = timedelta(minutes=5)


@pytest.fixture(scope="module")
def usual(shop: Service) -> Iterator[Service]:
    """Another server that polls as it does by default; no test refreshes it."""
    chosen = Settings(secret_key=shop.settings.secret_key)
    with running_service(
        shop.database_url, refresh_interval=chosen.refresh_interval, stale_after=chosen.stale_after
    ) as running:
        yield running


def shown(customer: Customer, sku: str) -> Any:
    """What the list shows of a product; None if it is not there."""
    found = customer.get(f"/product?query={sku}&limit=0").json()
    return next(((each["single_unit_cost"], each["availability"]["available"]) for each in found), None)


@pytest.mark.sweep
@pytest.mark.spec("8 Price and stock cache", "changes show once the server has noticed, which is within five minutes")
def test_changes_show_by_themselves_within_five_minutes(shop: Service, usual: Service) -> None:
    made, sku = shop.customer(), sell(shop, "UNREFRESHED", 10, available=3)
    customer = Customer(made.id, made.key, usual.client(**{"X-Api-Key": made.key}))
    changes: list[tuple[Callable[[], Any], Any]] = [
        (lambda: None, (10, 3)),
        (lambda: shop.must_load("price-list", [price(sku, 12)]), (12, 3)),
        (lambda: shop.must_load("stock", [{"sku": sku, "available": 1}]), (12, 1)),
        (lambda: shop.must_load("customers", [{"email_address": email_of(customer), "discount": "50"}]), (6, 1)),
        (lambda: shop.must_load("products", [product(sku, active=False)]), None),
    ]
    for change, expected in changes:
        change()
        wait_for(partial(is_shown, customer, sku, expected), MOST.total_seconds())


def is_shown(customer: Customer, sku: str, expected: Any) -> bool:
    return bool(shown(customer, sku) == expected)


def email_of(customer: Customer) -> str:
    email: str = customer.get("/customer").json()["email_address"]
    return email


@pytest.mark.spec("8 Price and stock cache", "changes show once the server has noticed, which is within five minutes")
def test_no_setting_makes_it_longer() -> None:
    chosen = Settings(secret_key="s" * 64)
    assert chosen.refresh_interval < chosen.stale_after <= MOST


def test_views_stay_while_nothing_changes_for_a_minute_at_most(shop: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    customer, sku = shop.customer(), sell(shop, "UNCHANGED", 10, available=3)
    view = partial(shop.application.storefront.last_view, customer.id)
    shop.refresh()
    first = view()
    shop.refresh()
    assert view() is first
    shop.must_load("stock", [{"sku": sku, "available": 2}])
    second = view()
    assert second is not first
    shop.refresh()
    assert view() is second
    monkeypatch.setattr("tradecounter.storefront.storefront._VIEWS_KEPT", 0)
    shop.refresh()
    assert view() is not second, "its cursor would grow old"


def test_views_stay_while_a_long_transaction_makes_every_poll_read_the_same_levels(shop: Service) -> None:
    customer = shop.customer()
    with psycopg.connect(shop.database_url) as holder:
        holder.execute("select pg_current_xact_id()")
        sell(shop, "READ-AGAIN", 10, available=3)
        first = shop.application.storefront.last_view(customer.id)
        shop.refresh()
        assert shop.application.storefront.last_view(customer.id) is first
