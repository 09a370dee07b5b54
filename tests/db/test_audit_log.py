"""The audit log only grows, whoever tries."""

import psycopg
import pytest

from support.orders import rows
from support.service import Service
from tradecounter.audit.record import audit
from tradecounter.db.transaction import Transaction


@pytest.mark.parametrize(
    "statement",
    [
        "update audit_entry set actor_name = 'someone else'",
        "delete from audit_entry",
        "truncate audit_entry",
    ],
)
def test_the_database_refuses_to_change_the_audit_log(service: Service, statement: str) -> None:
    async def change(tx: Transaction) -> None:
        audit(tx, "test.change", "test/1", service.clock.now(), before={"a": 1, "b": 2}, after={"a": 1, "b": 3})

    service.in_transaction(change)
    before = rows(service, "select action, before, after from audit_entry order by id")
    assert before[-1] == ("test.change", {"b": 2}, {"b": 3})
    with psycopg.connect(service.database_url) as database, pytest.raises(psycopg.Error):
        database.execute(statement.encode())
    assert rows(service, "select action, before, after from audit_entry order by id") == before
