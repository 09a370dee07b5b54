"""How couriers' labels look is learned from the latest shipments."""

from support.orders import buy, dispatch, rows, sell
from support.service import Service
from tradecounter.shipments.queries.units import shapes_of_labels


def test_only_the_latest_shipments_are_asked_how_labels_look(shop: Service) -> None:
    customer = shop.customer(company="Seldom tracked")
    sku = sell(shop, "SELDOM", 10, available=9)
    placed = buy(customer, [(sku, 2)])
    [(line,)] = rows(shop, "select id from order_line where order_id = %s", placed["order_id"])
    dispatch(shop, placed, (line, 1), tracking_number="AB-12/34")

    def shapes() -> list[str]:
        return shop.in_transaction(shapes_of_labels)

    assert "AA-99/99" in shapes()
    untracked = """
        insert into shipment (order_id, shipping_method, dispatched_at)
        select order_id, shipping_method, dispatched_at from shipment, generate_series(1, %s)
        where tracking_number = 'AB-12/34' returning id
    """
    rows(shop, untracked, 1999)
    assert "AA-99/99" in shapes()
    rows(shop, untracked, 1)
    assert shapes() == []
