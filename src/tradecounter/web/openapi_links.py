"""The interface document's links: how what one operation answers leads to the next."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Link:
    """From an operation's successful answer to another operation; values are runtime expressions of OpenAPI."""

    start: str
    target: str
    description: str
    parameters: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)


_ADDRESS = {
    "contact_name": "Sam Fitter",
    "street_one": "1 Site Road",
    "city": "Leeds",
    "zip": "LS1 4AP",
    "country_code": "GB",
}
_ONE_OF_THE_FIRST = {
    "customer_reference": "PO-1001",
    "items": [{"sku": "$response.body#/0/sku", "quantity": 1}],
    "billing_address": _ADDRESS,
    "shipping_address": _ADDRESS,
}
_BY_REFERENCE = {"reference": "$response.body#/order_reference"}
_FIRST_OPTION = {"shipping_method": {"id": "$response.body#/shipping_options/0/id"}}

LINKS = (
    Link(
        "listProducts",
        "getProduct",
        "Any of the products, by its SKU.",
        {"sku": "$response.body#/0/sku"},
    ),
    Link(
        "listProducts",
        "createOrder",
        "Any of the products can be ordered, by its SKU.",
        body=_ONE_OF_THE_FIRST,
    ),
    Link(
        "createOrder",
        "confirmOrder",
        "The pending order is confirmed by its code.",
        {"reference": "$response.body#/confirmation_code"},
        _FIRST_OPTION,
    ),
    Link(
        "createOrder",
        "getOrder",
        "An order that was confirmed at once has its reference.",
        _BY_REFERENCE,
    ),
    Link(
        "confirmOrder",
        "getOrder",
        "The confirmed order, by its reference.",
        _BY_REFERENCE,
    ),
    Link(
        "listOrders",
        "getOrder",
        "Any of the orders, by its reference.",
        {"reference": "$response.body#/0/order_reference"},
    ),
    Link(
        "createQuote",
        "confirmOrder",
        "Once support has priced it, the quote is confirmed by its code.",
        {"reference": "$response.body#/confirmation_code"},
        _FIRST_OPTION,
    ),
    Link(
        "createQuote",
        "getQuote",
        "The quote, with support's prices once it is priced.",
        {"confirmation_code": "$response.body#/confirmation_code"},
    ),
    Link("getOrder", "getInvoice", "The order's invoice.", _BY_REFERENCE),
    Link("getOrder", "getPackingVideo", "The order's packing video.", _BY_REFERENCE),
    Link(
        "getOrder",
        "addConfigurations",
        "The order's items can be configured, if their products can.",
        {**_BY_REFERENCE, "orderItemId": "$response.body#/items/0/id"},
    ),
    Link(
        "createAddress",
        "deleteAddress",
        "The address is deleted by its id.",
        {"id": "$response.body#/id"},
    ),
    Link(
        "listAddresses",
        "deleteAddress",
        "Any of the addresses, by its id.",
        {"id": "$response.body#/0/id"},
    ),
)


def links_of(name: str, known: Collection[str]) -> dict[str, Any]:
    """Return the links of an operation's answer to those operations that there are."""
    links: dict[str, Any] = {}
    for link in LINKS:
        if link.start == name and link.target in known:
            links[link.target] = {
                "operationId": link.target,
                "description": link.description,
                **({"parameters": link.parameters} if link.parameters else {}),
                **({"requestBody": link.body} if link.body else {}),
            }
    return links
