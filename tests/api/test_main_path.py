"""The main path: list products, create, confirm and read an order."""

from support.service import Service
from support.shop import STANDARD, order


def test_a_customer_lists_orders_confirms_and_reads_back(shop: Service) -> None:
    customer = shop.customer()
    [phone] = customer.get("/product", params={"query": "phone"}).json()
    assert (phone["sku"], phone["single_unit_cost"], phone["availability"]["available"]) == ("PHONE", 50.0, 100)

    created = customer.post("/order", order([("phone", 10)]))
    assert created.status_code == 201, created.text
    pending = created.json()
    assert (pending["cost_net"], pending["cost_tax"], pending["cost_gross"]) == (400.0, 80.0, 480.0)
    assert "order_id" not in pending

    confirmed = customer.put(f"/order/{pending['confirmation_code']}", {"shipping_method": {"id": STANDARD}})
    assert confirmed.status_code == 200, confirmed.text
    placed = confirmed.json()

    read = customer.get(f"/order/{placed['order_reference']}")
    assert read.status_code == 200
    assert read.json() == customer.get(f"/order/{placed['order_id']}").json()
    assert read.json()["status"] == "Awaiting dispatch"
    assert [listed["id"] for listed in customer.get("/order").json()] == [placed["order_id"]]
    shop.refresh()
    assert customer.get("/product/PHONE").json()["availability"]["available"] == 90
