"""Picking lists and packing slips: what is on them, who may print them, and when there are none."""

from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite
from support.billing import pdf_text
from support.orders import buy, cancel, create, dispatch, sell
from support.service import Service
from support.shop import ADDRESS, NEXT_DAY, price, product

COMPANY = {**ADDRESS, "company_name": "Harbour Ltd", "contact_number": "0113 496 0000"}


@pytest.fixture(scope="module")
def warehouse(office: BackOfficeSite) -> httpx2.Client:
    return office.caller("orders:read")


def text_of(client: httpx2.Client, placed: dict[str, Any], kind: str, query: str = "") -> str:
    response = client.get(f"/api/order/{placed['order_reference']}/{kind}{query}")
    assert response.status_code == 200, response.text
    name = f'attachment; filename="{kind}-{placed["order_reference"]}.pdf"'
    assert (response.headers["Content-Type"], response.headers["Content-Disposition"]) == ("application/pdf", name)
    return pdf_text(response.content)


def rejection(client: httpx2.Client, placed: dict[str, Any], path: str) -> tuple[int, str]:
    response = client.get(f"/api/order/{placed['order_reference']}/{path}")
    return response.status_code, response.json()["message"]


def test_a_picking_list_has_what_is_allocated_and_how_to_send_it(
    staff: httpx2.Client, warehouse: httpx2.Client, office: BackOfficeSite
) -> None:
    shop = office.service
    handset, few = sell(shop, "PICKED-HANDSET"), sell(shop, "PICKED-FEW", available=2)
    kit = sell(shop, "PICKED-KIT", available=9, components=[{"sku": handset, "quantity": 2}])
    customer = shop.customer(company="Trade & Co", packing="plain")
    items = [("PHONE", 3), (few, 5), (kit, 2)]
    placed = buy(customer, items, shipping_address=COMPANY, customer_reference="PO-77")
    staff.post(f"/api/order/{placed['order_reference']}/note", json={"text": "Pack in threes"}).raise_for_status()
    found = text_of(warehouse, placed, "picking-list")
    for text in (placed["order_reference"], "Trade & Co", "PO-77", "Harbour Ltd", "1 Test Street", "0113 496 0000",
                 "Slowpost", "plain packing", "Pack in threes", "Product PHONE", "contains 4 of PICKED-HANDSET",
                 "7 units to pick", "not in stock yet"):  # fmt: skip
        assert text in found, text
    picked, _, waiting = found.partition("units to pick")
    assert "PICKED-FEW" in picked
    assert "PICKED-FEW" in waiting
    assert "PHONE" not in waiting
    assert "£" not in found


def test_dispatched_units_are_not_picked_again(warehouse: httpx2.Client, office: BackOfficeSite) -> None:
    placed = buy(office.service.customer(), [("PHONE", 3), ("CABLE", 1)])
    dispatch(office.service, placed, (placed["items"][0]["id"], 2))
    found = text_of(warehouse, placed, "picking-list")
    assert "2 units to pick" in found
    dispatch(office.service, placed)
    reason = f"nothing of {placed['order_reference']} can be picked: all its units are dispatched"
    assert rejection(warehouse, placed, "picking-list") == (409, reason)


def test_a_packing_slip_has_the_units_of_one_shipment_without_prices(
    staff: httpx2.Client, warehouse: httpx2.Client, office: BackOfficeSite
) -> None:
    placed = buy(office.service.customer(), [("PHONE", 3), ("CABLE", 1)], shipping_address=COMPANY)
    phones, cable = (item["id"] for item in placed["items"])
    address = f"/api/order/{placed['order_reference']}"
    for item, quantity, number in ((phones, 2, "SN-ONE"), (cable, 1, "SN-TWO")):
        serials = [{"serial_number": number}]
        body = {"items": [{"id": item, "quantity": quantity, "serial_numbers": serials}], "tracking_number": number}
        staff.post(f"{address}/dispatch", json=body).raise_for_status()
    first, second = (shipment["id"] for shipment in staff.get(address).json()["shipments"])
    latest = text_of(warehouse, placed, "packing-slip")
    assert latest == text_of(warehouse, placed, "packing-slip", f"?shipment={second}")
    shipped, _, to_come = latest.partition("STILL TO COME")
    assert "SN-TWO" in shipped
    assert "SN-ONE" not in shipped
    assert "Product PHONE" not in shipped
    assert "Product PHONE" in to_come
    earlier = text_of(warehouse, placed, "packing-slip", f"?shipment={first}")
    for text in ("Harbour Ltd", "SN-ONE", "Product PHONE", "Slowpost", office.service.settings.seller_name):
        assert text in earlier, text
    assert "£" not in earlier + latest
    unknown = f"{placed['order_reference']} has no shipment 999999; its shipments are {first}, {second}"
    assert rejection(warehouse, placed, "packing-slip?shipment=999999") == (404, unknown)
    assert warehouse.get(f"{address}/packing-slip?shipment=0").status_code == 400


def test_plain_packing_has_no_seller_on_the_slip(warehouse: httpx2.Client, office: BackOfficeSite) -> None:
    service: Service = office.service
    placed = buy(service.customer(packing="plain"))
    dispatch(service, placed)
    found = text_of(warehouse, placed, "packing-slip")
    assert "PACKING SLIP" in found
    assert service.settings.seller_name not in found
    assert service.settings.seller_vat_number not in found


def test_an_order_without_such_a_paper_is_rejected(warehouse: httpx2.Client, office: BackOfficeSite) -> None:
    service = office.service
    customer = service.customer()
    placed = buy(customer)
    reason = f"nothing of {placed['order_reference']} is dispatched yet"
    assert rejection(warehouse, placed, "packing-slip") == (409, reason)
    waiting = buy(customer, [(sell(service, "PICKED-NONE"), 1)])
    reason = f"nothing of {waiting['order_reference']} can be picked: its units are back-ordered"
    assert rejection(warehouse, waiting, "picking-list") == (409, reason)
    cancel(service, placed)
    for kind in ("picking-list", "packing-slip"):
        assert rejection(warehouse, placed, kind)[0] == 409
        assert warehouse.get(f"/api/order/{create(customer)['confirmation_code']}/{kind}").status_code == 409
        assert warehouse.get(f"/api/order/NONE/{kind}").status_code == 404


@pytest.mark.sweep
def test_sixty_lines_with_long_names_take_several_pages(warehouse: httpx2.Client, office: BackOfficeSite) -> None:
    service = office.service
    name = "A desk phone with a colour touch screen, an expansion port and a wall-mount kit " * 2
    skus = [f"LONG-{number:02}-{'X' * 30}" for number in range(60)]
    service.must_load("products", [product(sku, name=name) for sku in skus])
    service.must_load("price-list", [price(sku, 10) for sku in skus])
    service.must_load("stock", [{"sku": sku, "available": 9} for sku in skus])
    placed = buy(service.customer(), [(sku, 2) for sku in skus], NEXT_DAY)
    found = text_of(warehouse, placed, "picking-list")
    assert "120 units to pick" in found
    assert all(f"LONG-{number:02}" in found for number in range(60))
    dispatch(service, placed)
    assert all(f"LONG-{number:02}" in text_of(warehouse, placed, "packing-slip") for number in (0, 59))
