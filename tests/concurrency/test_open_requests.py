"""The limit of open requests of a customer holds for requests at the same time."""

from collections import Counter
from functools import partial

from support.orders import buy, in_parallel, rows
from support.service import Service


def test_requests_at_the_same_time_never_exceed_the_limit(shop: Service) -> None:
    customer = shop.customer()
    reference = buy(customer, [("CABLE", 1)])["order_reference"]
    body = {"kind": "message", "order_reference": reference, "text": "Where is it?"}
    for _ in range(45):
        assert customer.post("/request", body).status_code == 201
    responses = in_parallel([partial(customer.post, "/request", body)] * 20)
    assert Counter(response.status_code for response in responses) == {201: 5, 409: 15}
    of_customer = "select count(*) from customer_request r join orders o on o.id = r.order_id where o.customer_id = %s"
    assert rows(shop, of_customer, customer.id) == [(50,)]
