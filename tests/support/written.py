"""The rows that requests have written, to check that a rejected request writes nothing."""

from typing import Any

from support.orders import rows
from support.service import Service


def written(service: Service) -> tuple[Any, ...]:
    """How much there is of everything that a request can write."""
    [counts] = rows(
        service,
        """
        select (select count(*) from orders), (select count(*) from orders where state = 'confirmed'),
               (select count(*) from order_line), (select count(*) from address),
               (select count(*) from address where deleted_at is null),
               (select coalesce(sum(outstanding), 0) from credit_exposure),
               (select sum(available) from stock_level), (select sum(back_ordered) from stock_level),
               (select count(*) from idempotency_key), (select count(*) from procrastinate_jobs)
        """,
    )
    return counts
