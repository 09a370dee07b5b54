"""Which roles each page and its form are for, as the reseller's side demands in sections 2 and 7.

Administrators and owners may open everything. A form is for the roles of its page unless it is listed itself.
"""

from collections.abc import Mapping

from support.page_routes import PageRoute
from tradecounter.pages.page_site import BACK_OFFICE

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
_ORDERS = "support warehouse finance"
OFFICE: Mapping[str, str] = {
    **SIGN_IN,
    "/": EVERYBODY,
    "/order": _ORDERS,
    "/order/{reference}": _ORDERS,
    "/order/{reference}/cancel": "support",
    "/order/{reference}/dispatch": "support warehouse",
    "/order/{reference}/note": "support",
}
_DEVELOPER_PATHS = (
    "", "/key/new", "/key/{id}/disable", "/call", "/application", "/application/{client_id}/revoke",
    "/webhook", "/webhook/new", "/webhook/{id}", "/webhook/{id}/edit", "/webhook/{id}/secret", "/webhook/{id}/delete",
    "/webhook/{id}/state", "/webhook/{id}/ping", "/webhook/{id}/retry", "/webhook/{id}/replay",
    "/webhook/{id}/delivery/{delivery_id}", "/webhook/{id}/delivery/{delivery_id}/redeliver",
    "/feed", "/feed/new", "/feed/{id}", "/feed/{id}/edit", "/feed/{id}/address", "/feed/{id}/new-address",
    "/feed/{id}/delete",
)  # fmt: skip
ACCOUNT: Mapping[str, str] = {
    **{f"/account{path}": roles for path, roles in SIGN_IN.items()},
    "/account": EVERYBODY,
    "/auth/authorize": ANYBODY,
    **dict.fromkeys(
        (
            "/account/order",
            "/account/order/unconfirmed",
            "/account/order/cancelled",
            "/account/order/{reference}",
            "/account/new-order",
            "/account/new-order/{code}",
            "/account/new-order/{code}/discard",
            "/account/quote",
            "/account/quote/{code}",
            "/account/quote/{code}/decline",
            "/account/address",
            "/account/address/new",
            "/account/address/{id}",
            "/account/address/{id}/remove",
        ),
        "buyer",
    ),
    "/account/invoice": "accounts",
    "/account/invoice/credit-note": "accounts",
    "/account/invoice/statement": "accounts",
    "/account/invoice/{number}/pdf": "accounts buyer",
    "/account/invoice/credit-note/{number}/pdf": "accounts buyer",
    "/account/credit": "accounts",
    "/account/user": "owner",
    "/account/user/invite": "owner",
    "/account/user/{id}/role": "owner",
    "/account/user/{id}/disable": "owner",
    "/account/quote-link": ANYBODY,
    "/account/quote-link/{secret}": ANYBODY,
    **{f"/account/developer{path}": "developer" for path in _DEVELOPER_PATHS},
}


def roles_for(route: PageRoute) -> str:
    """Whom a page or form is for. Raises KeyError for one that is not listed."""
    table = OFFICE if route.site is BACK_OFFICE else ACCOUNT
    return table.get(f"{route.method} {route.path}") or table[route.path]


def is_for(role: str, route: PageRoute) -> bool:
    """Whether a page or form is for a role."""
    roles = roles_for(route)
    return roles in {EVERYBODY, ANYBODY} or role in {"administrator", "owner", *roles.split()}
