"""A customer's story with the core of the API alone: every operation with a body, with texts and numbers that can be
spelled in several ways."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from support.billing import issue
from support.orders import dispatch
from support.service import Customer, Service
from support.shop import ADDRESS, STANDARD, price, product, stock_shop
from tradecounter.kit.clock import moment_of
from tradecounter.orders.reseller_wire import Tracking
from tradecounter.shipments.fulfilment import add_video, track_shipment
from tradecounter.shipments.wire import OrderVideoResponse, Serial

TEXT = 'Ü "quoted" \\ / <b>&amp;</b> \u2013 5 € \u2028 🙂\ttab\nline'
ODD: dict[str, Any] = {
    "sku": "ODD/1 #é",
    "ean": "5901234123457",
    "name": 'Écran 24" <b>&</b> ½ 🙂 \\ /',
    "weight_kg": "0.125",
    "box_width_mm": "100.5",
    "box_height_mm": "20",
    "box_length_mm": "3000",
    "clearance_product": True,
    "consumer_unit_cost": "1999.90",
    "description": TEXT,
    "description_html": "<p>Fast &amp; small</p>",
    "short_description": "Kurz, aber schön",
    "store_url": "https://shop.example/p/odd?a=1&b=2",
    "images": [
        {"is_primary": True, "url": "https://images.example/odd.jpg"},
        {"is_primary": False, "url": "https://images.example/odd-2.jpg"},
    ],
    "categories": ["phones", "desk-phones"],
    "attributes": {"ports": "2", "colour": "Graphite/black"},
    "related_products": ["CABLE"],
    "similar_products": ["PHONE"],
    "configurable": True,
}
FULL_ADDRESS = {
    **ADDRESS,
    "company_name": 'Example & "Sons"',
    "street_two": "Floor 2",
    "street_three": "Rear",
    "state": "West Yorkshire",
    "contact_number": "0113 496 0000",
    "tax_number": "GB123",
}
TOLD = {"email_address": "ada@test.example", "phone_number": "0113 496 0001"}
VIDEO = OrderVideoResponse("https://video.example/1.mp4", "https://video.example/1.m3u8")
TRADE: dict[str, Any] = {"accounts_email": "accounts@test.example", "credit": "10000.00"}


@dataclass
class Story:
    """The shop and the customer, and what was exchanged: the request, and its response."""

    shop: Service
    customer: Customer
    exchanges: list[tuple[str, Any]] = field(default_factory=list)

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        response = self.customer.http.request(method, path, json=body, headers=headers)
        self.exchanges.append((f"{method} {path}", response))
        return response

    def get(self, *paths: str, **headers: str) -> None:
        for path in paths:
            self.send("GET", path, **headers)


def stock_core_shop(shop: Service) -> None:
    """Fill an empty database with the small catalogue and one product that has everything."""
    stock_shop(shop)
    desk = {"key": "desk-phones", "name": 'Desk phones & "more"'}
    shop.must_load("categories", [{"key": "phones", "name": "Phones", "children": [desk]}, {"key": "x", "name": "X"}])
    ports = {
        "key": "ports",
        "name": "Ethernet ports",
        "type": "int",
        "possible_values": [{"value": "1"}, {"value": "2"}],
    }
    shop.must_load("attributes", [ports, {"key": "colour", "name": "Colour", "type": "string"}])
    shop.must_load("products", [product(**ODD)])
    shop.must_load("price-list", [price(ODD["sku"], "1299.5", "1250", "1000.05")])
    shop.must_load("stock", [{"sku": ODD["sku"], "available": 3}])
    shop.must_load("incoming", [{"sku": ODD["sku"], "incoming": 40, "expected_on": "2026-07-01"}])


def tell_core_story(shop: Service) -> Story:
    """Tell the story at the clock of the shop, which has to be empty."""
    stock_core_shop(shop)
    story = Story(shop, shop.customer(**TRADE, email_address="customer1@test.example", last_name="Customer 1"))
    read_catalogue(story)
    address = story.send("POST", "/customer/address", FULL_ADDRESS).json()["id"]
    story.send("POST", "/customer/address", ADDRESS)
    story.get("/customer/address", "/customer", "/customer/credit")
    placed = order_and_confirm(story, address)
    reference = placed["order_reference"]
    configure(story, reference)
    story.get(f"/order/{reference}/video", f"/order/{reference}/invoice")
    deliver(story, placed)
    story.get(f"/order/{reference}", f"/order/{reference}/video", "/order", "/order?page=1&limit=1", "/customer/credit")
    story.get("/order", "/order?page=2&limit=1", Accept="text/csv")
    story.send("DELETE", f"/customer/address/{address}")
    story.send("DELETE", f"/customer/address/{address}")
    story.get("/customer/address", f"/order/{reference}")
    return story


def read_catalogue(story: Story) -> None:
    every = "extra=description,description_html,short_description,related,similar"
    story.get("/product", "/product?limit=2", "/product?page=2&limit=2&sort=price", f"/product?inStock=true&{every}")
    story.get("/product?category=phones&attribute=ports%3E%3D2", "/product?query=nothing", "/product?sort=colour")
    story.get("/product/odd%2F1%20%23%C3%A9", "/product/cable?extra=related,similar", "/product/unknown")
    story.get("/category", "/manufacturer", "/attribute")
    story.get("/product", f"/product?{every}&limit=3", "/product?query=nothing", Accept="text/csv")


def order_and_confirm(story: Story, address: int) -> Any:
    """Request a quote, create an order twice with one key, and confirm it; return the confirmed order."""
    body = {
        "customer_reference": 'PO-77 "é"',
        "items": [{"sku": ODD["sku"].lower(), "quantity": 5}, {"sku": "CABLE", "quantity": 3}],
        "billing_address": {"id": address},
        "shipping_address": ADDRESS,
        "external_customer_id": "C/1",
        "order_notifications": TOLD,
        "courier_notifications": TOLD,
    }
    story.send("POST", "/quote", {**body, "customer_reference": "Q-1"})
    story.send("POST", "/quote", {**body, "auto_confirm": True})
    story.send("POST", "/order", body, **{"Idempotency-Key": "77"})
    created = story.send("POST", "/order", body, **{"Idempotency-Key": "77"}).json()
    path = f"/order/{created['confirmation_code']}"
    story.send("PUT", path, {})
    placed = story.send("PUT", path, {"shipping_method": {"id": STANDARD}}).json()
    at_once = {"auto_confirm": True, "shipping_method": {"id": STANDARD}, "customer_reference": "PO-78"}
    story.send("POST", "/order", {**body, **at_once, "items": [{"sku": "PHONE", "quantity": 1}]})
    story.send("POST", "/order", {**body, "items": [{"sku": "SWITCH", "quantity": 99}]})
    story.get(f"/order/{placed['order_id']}", "/order/unknown", "/customer/credit")
    return placed


def configure(story: Story, reference: str) -> None:
    items = story.send("GET", f"/order/{reference}").json()["items"]
    wanted = {"configurations": [{"adsl_username": 'user@isp "1"', "adsl_password": "p/ß"}]}
    for item in items:  # the second cannot be configured
        story.send("POST", f"/order/{reference}/item/{item['id']}/configuration", wanted)


def deliver(story: Story, placed: dict[str, Any]) -> None:
    """Let the order leave with serial numbers, be seen on its way and filmed, and be invoiced."""
    shop, reference, now = story.shop, placed["order_reference"], story.shop.clock.now()
    shop.must_load("stock", [{"sku": ODD["sku"], "available": 10}])
    items = story.customer.get(f"/order/{reference}").json()["items"]
    serials = [Serial(items[0]["id"], "SN/1", "00:00:5E:00:53:01", ODD["sku"])]
    dispatch(shop, placed, tracking_number="T-1/é", serials=serials)
    tracking = Tracking("Collected", 'From "Ü"', locality="Leeds", date=moment_of("2026-06-16T09:00:00"))
    steps: list[Callable[[Any], Any]] = [
        lambda tx: track_shipment(tx, reference, tracking, now),
        lambda tx: add_video(tx, reference, VIDEO, now),
    ]
    for step in steps:
        shop.in_transaction(step)
    issue(shop, placed)
