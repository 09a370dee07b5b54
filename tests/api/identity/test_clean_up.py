"""The clean-up deletes expired identity data, and nothing else."""

from datetime import timedelta

from support.applications import running_exchange
from support.orders import rows
from tradecounter.db.transaction import Transaction
from tradecounter.identity.clean_up import clean_up_identity

COUNTS = """
    select (select count(*) from access_token), (select count(*) from credential_failure),
           (select count(*) from blocked_address), (select count(*) from request_count)
"""


def test_old_tokens_failures_blocks_and_counts_are_deleted_and_the_rest_is_kept(database_url: str) -> None:
    with running_exchange(database_url, rate_limit=1000) as exchange:
        service, token = exchange.service, exchange.access_token()

        async def clean_up(tx: Transaction) -> int:
            return await clean_up_identity(tx, service.clock.now())

        for address, times in (("198.51.100.1", 10), ("198.51.100.2", 2)):
            for _ in range(times):
                exchange.http.get("/customer", headers={"X-Forwarded-For": address, "X-Api-Key": "x"})
        assert exchange.use(token).status_code == 200
        service.refresh()
        for passed, deleted, left in (
            (timedelta(seconds=59), 0, (1, 2, 1, 1)),
            (timedelta(seconds=1), 2, (1, 0, 1, 1)),
            (timedelta(minutes=4), 1, (1, 0, 0, 1)),
            (timedelta(minutes=5), 1, (1, 0, 0, 0)),
            (timedelta(hours=24), 0, (1, 0, 0, 0)),
            (timedelta(hours=1), 1, (0, 0, 0, 0)),
        ):
            service.clock.advance(passed)
            assert (service.in_transaction(clean_up), rows(service, COUNTS)) == (deleted, [left])
