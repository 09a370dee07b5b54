"""Caps on pending orders and unpriced quotes hold for requests at the same moment, on several servers."""

from collections import Counter
from functools import partial
from typing import Any

import pytest

from support.orders import in_parallel, rows
from support.service import Customer, Service, running_service
from support.shop import order
from tradecounter.ordering.most_pending import AT_ONCE


def counts(service: Service, customer: Customer) -> Counter[str]:
    found = rows(service, "select kind, count(*) from orders where customer_id = %s group by kind", customer.id)
    return Counter(dict(found))


@pytest.mark.parametrize("path", ["/order", "/quote"])
@pytest.mark.parametrize("most", [1, 10, 30])
def test_of_many_at_once_as_many_are_created_as_there_is_room_for(shop: Service, path: str, most: int) -> None:
    kind = path[1:]
    settings: dict[str, Any] = {"max_pending_orders": most, "max_unpriced_quotes": most}
    with running_service(shop.database_url, **settings) as one, running_service(shop.database_url, **settings) as two:
        customer = one.customer()
        clients = [service.client(**{"X-Api-Key": customer.key}) for service in (one, two)]
        two.refresh()
        answers = in_parallel([partial(clients[n % 2].post, path, json=order()) for n in range(40)])
    assert Counter(answer.status_code for answer in answers) == {201: most, 409: 40 - most}
    assert counts(shop, customer) == {kind: most}


def test_the_last_places_are_counted_one_by_one_after_those_that_were_not(shop: Service) -> None:
    """Far from the cap creations are not counted one by one; those under way when it comes near still are."""
    most = AT_ONCE + 30
    with running_service(shop.database_url, max_pending_orders=most) as one:
        customer = one.customer()
        for _ in range(5):
            in_parallel([partial(customer.post, "/order", order())] * 24)
    assert counts(shop, customer) == {"order": most}
