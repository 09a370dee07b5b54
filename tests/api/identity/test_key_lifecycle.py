"""Keys from creation to disabling, across processes (specification, authentication)."""

from datetime import timedelta

import pytest

from support.cluster import Cluster
from support.service import Customer, Service, running_service
from support.waiting import wait_for
from tradecounter.db.transaction import Transaction
from tradecounter.identity.queries.api_keys import KeyRecord, NewKey, add_key, disable_key, list_keys

DISABLED_WITHIN_SECONDS = 5.0


def new_key(service: Service, customer: Customer, name: str = "second") -> NewKey:
    async def add(tx: Transaction) -> NewKey:
        return await add_key(tx, customer.id, name, service.clock.now())

    return service.in_transaction(add)


def disable(service: Service, key_id: int) -> bool:
    async def switch_off(tx: Transaction) -> bool:
        return await disable_key(tx, key_id, service.clock.now()) is not None

    return service.in_transaction(switch_off)


def keys_of(service: Service, customer: Customer) -> list[KeyRecord]:
    async def read(tx: Transaction) -> list[KeyRecord]:
        return await list_keys(tx, customer.id)

    return service.in_transaction(read)


def status(service: Service, key: str) -> int:
    return service.client(**{"X-Api-Key": key}).get("/customer").status_code


def test_a_new_key_works_immediately_beside_the_old_one(service: Service) -> None:
    customer = service.customer()
    assert status(service, new_key(service, customer).key) == 200
    assert status(service, customer.key) == 200


@pytest.mark.spec("8 API key and bearer token length", "a key has 64 characters")
def test_keys_are_64_hexadecimal_characters_and_unique(service: Service) -> None:
    customer = service.customer()
    keys = {new_key(service, customer).key for _ in range(20)}
    assert len(keys) == 20
    assert all(len(key) == 64 and set(key) <= set("0123456789abcdef") for key in keys)


@pytest.mark.spec("5 Authentication", "a disabled key stops working")
def test_a_disabled_key_stops_working_and_the_customers_other_keys_keep_working(service: Service) -> None:
    customer, neighbour = service.customer(), service.customer()
    key = new_key(service, customer)
    assert status(service, key.key) == 200
    assert disable(service, key.id)
    service.refresh()
    assert status(service, key.key) == 401
    assert (status(service, customer.key), status(service, neighbour.key)) == (200, 200)


def test_disabling_twice_keeps_the_first_time_and_an_unknown_key_is_reported(service: Service) -> None:
    customer = service.customer()
    key = new_key(service, customer)
    disable(service, key.id)
    first = keys_of(service, customer)[-1].disabled_at
    service.clock.advance(timedelta(hours=1))
    assert disable(service, key.id)
    assert keys_of(service, customer)[-1].disabled_at == first
    assert not disable(service, 2**62)


def test_a_disabled_key_stops_within_five_seconds_without_a_refresh(service: Service) -> None:
    """The tests' server polls once an hour, so only the expiry of its cache can stop the key."""
    key = new_key(service, service.customer())
    service.refresh()
    client = service.client(**{"X-Api-Key": key.key})
    assert client.get("/customer").status_code == 200
    disable(service, key.id)
    wait_for(lambda: client.get("/customer").status_code != 200, DISABLED_WITHIN_SECONDS)
    assert client.get("/customer").status_code == 401


def test_a_single_database_connection_is_enough(postgres: Cluster) -> None:
    with postgres.database() as url, running_service(url, database_connections=1) as service:
        customer = service.customer()
        assert status(service, customer.key) == 200
        service.refresh()
        assert [key.last_used_at for key in keys_of(service, customer)] == [service.clock.now()]


def test_last_use_is_recorded_for_used_keys_only(database_url: str) -> None:
    with running_service(database_url) as service:
        customer = service.customer()
        used, unused = new_key(service, customer, "used"), new_key(service, customer, "unused")
        switched_off = new_key(service, customer, "off")
        disable(service, switched_off.id)
        service.clock.advance(timedelta(minutes=7))
        assert [status(service, key.key) for key in (used, switched_off)] == [200, 401]
        assert {key.last_used_at for key in keys_of(service, customer)} == {None}
        service.refresh()
        found = {key.id: key.last_used_at for key in keys_of(service, customer)}
        assert found[used.id] == service.clock.now()
        assert (found[unused.id], found[switched_off.id]) == (None, None)
