"""Prints the classes of the errors that wrong requests get."""

import json
import os
import sys
from decimal import Decimal

import msgspec

from tradecounter_client import ApiError, NoResponse, NotGenuine, Tradecounter, verified_event
from tradecounter_client.models import CreateOrderItem, CreateOrderRequest, OrderAddressDetails

url, key = os.environ["BASE"], os.environ["KEY"]
shop = Tradecounter(url, key)
wrong = CreateOrderRequest(
    customer_reference="PO-wrong",
    items=[CreateOrderItem(sku="NO-SUCH", quantity=1)],
    billing_address=OrderAddressDetails(id=shop.addresses()[0].id),
    shipping_address=OrderAddressDetails(id=shop.addresses()[0].id),
)
found: dict[str, object] = {}
try:
    shop.create_order(wrong)
except ApiError as error:
    found["order"] = [type(error).__name__, error.status, error.errors[0].field, error.request_id is not None]
try:
    shop.create_order(msgspec.structs.replace(wrong, max_cost_gross=Decimal("NaN")))
except ValueError as error:
    found["number"] = type(error).__name__
try:
    shop.product("NO-SUCH")
except ApiError as error:
    found["product"] = type(error).__name__
try:
    next(Tradecounter(url, "wrong").products())
except ApiError as error:
    found["key"] = type(error).__name__
try:
    Tradecounter("http://127.0.0.1:9", key, attempts=2).customer()
except NoResponse as error:
    found["nobody"] = type(error).__name__

secret, body = os.environ["SECRET"], os.environ["BODY"].encode()
headers = json.loads(os.environ["HEADERS"])
found["event"] = verified_event(secret, headers, body).type
for name, sent, content in (
    ("forged", headers, body.replace(b"1001", b"1002")),
    ("endless", headers | {"Webhook-Timestamp": "9" * 5000}, body),
):
    try:
        verified_event(secret, sent, content)
    except NotGenuine as error:
        found[name] = type(error).__name__
sys.stdout.write(json.dumps(found))
