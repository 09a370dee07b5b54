"""Which roles each page and its form are for.

Administrators and owners may open everything. A form is for the roles of its page unless it is listed itself.
"""

from collections.abc import Mapping

from support.page_routes import PageRoute
from tradecounter.edge.pages.page_site import BACK_OFFICE

EVERYBODY = "everybody"  # who has signed in
ANYBODY = "anybody"  # also people who have not signed in
SIGN_IN = {
    "/sign-in": ANYBODY,
    "/sign-in/code": ANYBODY,
    "/sign-in/second-factor": ANYBODY,
    "/sign-in/again": EVERYBODY,
    "/sign-out": EVERYBODY,
    "/set-password": ANYBODY,
    "/forgotten-password": ANYBODY,
    "/sign-ins": EVERYBODY,
    "/sign-ins/end-others": EVERYBODY,
    "/sign-ins/{id}/end": EVERYBODY,
    "/sign-ins/password": EVERYBODY,
    "/sign-ins/second-factor": EVERYBODY,
    "/sign-ins/second-factor/remove": EVERYBODY,
    "/sign-ins/recovery-codes": EVERYBODY,
}
ADMINISTRATOR, OWNER = "administrator", "owner"  # alone
_SALES = "support finance"
_ORDERS = "support warehouse finance"
_ON_THE_WAY = "support warehouse"
OFFICE: Mapping[str, str] = {
    **SIGN_IN,
    "/": EVERYBODY,
    "/search": EVERYBODY,
    "/order": _ORDERS,
    "/order/new": _SALES,
    "/order/new/{customer_id}": _SALES,
    "/order/{reference}": _ORDERS,
    "/order/{reference}/amend": _SALES,
    "/order/{reference}/cancel": "support",
    "/order/{reference}/confirm": _SALES,
    "/order/{reference}/dispatch": _ON_THE_WAY,
    "/order/{reference}/invoice": "finance",
    "/order/{reference}/note": "support",
    "/order/{reference}/packing-slip": _ORDERS,
    "/order/{reference}/picking-list": _ORDERS,
    "/order/{reference}/return": "support",
    "/order/{reference}/shipment/{id}": _ON_THE_WAY,
    "/order/{reference}/shipment/{id}/take-back": _ON_THE_WAY,
    "/order/{reference}/tracking": _ON_THE_WAY,
    "/order/{reference}/video": _ON_THE_WAY,
    "/quote": _SALES,
    "/quote/{code}": _SALES,
    "/quote/{code}/confirm": _SALES,
    "/quote/{code}/decline": "support",
    "/quote/{code}/price": "support",
    "/return": _ORDERS,
    "/return/{number}": _ORDERS,
    "/return/{number}/close": _SALES,
    "/return/{number}/receive": _ON_THE_WAY,
    "/customer": _SALES,
    "/customer/new": "support",
    "/customer/{id}": _SALES,
    "/customer/{id}/access": _SALES,
    "/customer/{id}/address": _SALES,
    "/customer/{id}/address/new": "support",
    "/customer/{id}/address/{address_id}": "support",
    "/customer/{id}/address/{address_id}/remove": "support",
    "/customer/{id}/block": "finance",
    "/customer/{id}/contact": "support",
    "/customer/{id}/credit-terms": "finance",
    "/customer/{id}/erase": ADMINISTRATOR,
    "/customer/{id}/event": _SALES,
    "/customer/{id}/export": _SALES,
    "/customer/{id}/history": _SALES,
    "/customer/{id}/key/new": "support",
    "/customer/{id}/key/{key_id}/disable": "support",
    "/customer/{id}/order": _SALES,
    "/customer/{id}/price": _SALES,
    "/customer/{id}/statement": _SALES,
    "/customer/{id}/trade-terms": ADMINISTRATOR,
    "/customer/{id}/unblock": "finance",
    "/customer/{id}/user/invite": "support",
    "/customer/{id}/user/{user_id}/disable": "support",
    "/customer/{id}/webhook": _SALES,
    "/product": "support warehouse finance catalogue",
    "/product/{sku}": "support warehouse finance catalogue",
    "/stock-adjustment": "warehouse",
    "/import": "support finance catalogue",
    "POST /import": "catalogue",
    "/import/check/{upload}": "catalogue",
    "/import/check/{upload}/apply": "catalogue",
    "/import/check/{upload}/discard": "catalogue",
    "/import/{id}": "support finance catalogue",
    "/import/{id}/roll-back": "catalogue",
    "/money": _SALES,
    "/invoice": _SALES,
    "/invoice/{number}": _SALES,
    "/invoice/{number}/credit-note": "finance",
    "/invoice/{number}/pdf": _SALES,
    "/invoice/{number}/resend": _SALES,
    "/credit-note": _SALES,
    "/credit-note/{number}": _SALES,
    "/credit-note/{number}/pdf": _SALES,
    "/payment": _SALES,
    "/payment/import": "finance",
    "/payment/import/check/{file}": "finance",
    "/payment/import/check/{file}/apply": "finance",
    "/payment/import/check/{file}/discard": "finance",
    "/bank-file": _SALES,
    "/bank-file/{id}": _SALES,
    "/bank-file/{id}/roll-back": "finance",
    "/bank-line": _SALES,
    "/bank-line/{id}": _SALES,
    "/bank-line/{id}/place": "finance",
    "/bank-line/{id}/set-aside": "finance",
    "/payment/new": "finance",
    "/payment/{id}": _SALES,
    "/payment/{id}/reverse": "finance",
    "/webhook": _SALES,
    "/webhook/new": ADMINISTRATOR,
    "/webhook/{id}": _SALES,
    "/webhook/{id}/delete": ADMINISTRATOR,
    "/webhook/{id}/delivery/{delivery_id}": _SALES,
    "/webhook/{id}/delivery/{delivery_id}/redeliver": ADMINISTRATOR,
    "/webhook/{id}/edit": ADMINISTRATOR,
    "/webhook/{id}/ping": ADMINISTRATOR,
    "/webhook/{id}/replay": ADMINISTRATOR,
    "/webhook/{id}/retry": ADMINISTRATOR,
    "/webhook/{id}/secret": ADMINISTRATOR,
    "/webhook/{id}/state": ADMINISTRATOR,
    "/job": _SALES,
    "/job/{id}/retry": "support",
    "/audit": _SALES,
    "/staff": ADMINISTRATOR,
    "/staff/new": ADMINISTRATOR,
    "/staff/{id}/disable": ADMINISTRATOR,
    "/staff/{id}/edit": ADMINISTRATOR,
    "/staff/{id}/reset": ADMINISTRATOR,
    "/token/new": ADMINISTRATOR,
    "/token/{id}/revoke": ADMINISTRATOR,
}
_DEVELOPER = {
    f"/account/developer{path}": "developer"
    for path in (
        "", "/call", "/key/new", "/key/{id}/disable", "/application", "/application/{client_id}/revoke",
        "/feed", "/feed/new", "/feed/{id}", "/feed/{id}/address", "/feed/{id}/delete", "/feed/{id}/edit",
        "/feed/{id}/new-address", "/webhook", "/webhook/new", "/webhook/{id}", "/webhook/{id}/delete",
        "/webhook/{id}/delivery/{delivery_id}", "/webhook/{id}/delivery/{delivery_id}/redeliver",
        "/webhook/{id}/edit", "/webhook/{id}/ping", "/webhook/{id}/replay", "/webhook/{id}/secret",
        "/webhook/{id}/retry", "/webhook/{id}/state",
    )
}  # fmt: skip
ACCOUNT: Mapping[str, str] = {
    **{f"/account{path}": roles for path, roles in SIGN_IN.items()},
    "/auth/authorize": ANYBODY,
    "/account/quote-link": ANYBODY,
    "/account/quote-link/{secret}": ANYBODY,
    "/account": EVERYBODY,
    "/account/order": "buyer",
    "/account/search": "buyer accounts",
    "/account/order/cancelled": "buyer",
    "/account/order/unconfirmed": "buyer",
    "/account/order/{reference}": "buyer",
    "/account/new-order": "buyer",
    "/account/new-order/{code}": "buyer",
    "/account/new-order/{code}/discard": "buyer",
    "/account/quote": "buyer",
    "/account/quote/{code}": "buyer",
    "/account/quote/{code}/decline": "buyer",
    "/account/address": "buyer",
    "/account/address/new": "buyer",
    "/account/address/{address_id}": "buyer",
    "/account/address/{address_id}/remove": "buyer",
    "/account/invoice": "accounts",
    "/account/invoice/statement": "accounts",
    "/account/invoice/credit-note": "accounts",
    "/account/invoice/{number}/pdf": "accounts buyer",  # an order shows its invoices
    "/account/invoice/credit-note/{number}/pdf": "accounts buyer",
    "/account/credit": "accounts",
    "/account/user": OWNER,
    "/account/user/invite": OWNER,
    "/account/user/{id}/disable": OWNER,
    "/account/user/{id}/role": OWNER,
    **_DEVELOPER,
}


def roles_for(route: PageRoute) -> str:
    """Whom a page or form is for. Raises KeyError for one that is not listed."""
    table = OFFICE if route.site is BACK_OFFICE else ACCOUNT
    return table.get(f"{route.method} {route.path}") or table[route.path]


def is_for(role: str, route: PageRoute) -> bool:
    """Whether a page or form is for a role."""
    roles = roles_for(route)
    return roles in {EVERYBODY, ANYBODY} or role in {"administrator", "owner", *roles.split()}
