"""The error responses of orders and quotes, for the interface document."""

from tradecounter.edge.rest.headers import RETRY_AFTER
from tradecounter.edge.rest.operation import ErrorResponse
from tradecounter.kit.error_codes import Code

PAYMENT_REQUIRED = ErrorResponse(
    402,
    "The account has no credit terms, or not enough available credit.",
    "the order's 557.88 including tax and shipping exceeds the available credit of 100.00",
    name="PaymentRequired",
)
CONFLICT = ErrorResponse(
    409,
    "One of: an earlier request with the same `Idempotency-Key` is still being processed (wait, then repeat it); the "
    "account requires unique customer references, and the reference is already used; the account has as many pending "
    "orders or unpriced quotes as allowed (the message names the limit); the account is blocked; the items cost more "
    "than `max_unit_cost` or `max_cost_gross` allows (each of `errors` has today's `unit_cost`); not all is in stock, "
    "and `allow_back_orders` is false (the message names what is there).",
    "customer_reference: 'PO-1001' is already used by ORD-100042",
    (RETRY_AFTER,),
    "Conflict",
    code=Code.DUPLICATE_REFERENCE,
)
BLOCKED = ErrorResponse(
    409,
    "The account is blocked; or the items cost more than `max_cost_gross` allows; or the order must not wait for "
    "stock, and not all is there.",
    "the account is blocked, so it cannot order",
    code=Code.ACCOUNT_BLOCKED,
)
UNKNOWN_CODE = ErrorResponse(
    404,
    "No pending order or quote of yours has this `confirmation_code`.",
    "no pending order or quote has the confirmation_code 0f8a3c5e7b9d1f2a4c6e8b0d2f4a6c8e",
)
EXPIRED = ErrorResponse(
    410,
    "The pending order or quote has expired or was cancelled.",
    "the pending order has expired: create it again",
)
_NO_SHIPPING_METHOD = (
    "shipping_method: is required, since the account has no default among the shipping options: "
    "101 (Northway Parcels, UK mainland economy), 102 (Northway Parcels, UK mainland next working day)"
)
NO_SHIPPING_METHOD = ErrorResponse(
    412,
    "With `auto_confirm`: the request names no shipping method, and none of the options is the account's default.",
    _NO_SHIPPING_METHOD,
    code=Code.SHIPPING_METHOD_REQUIRED,
)
NOT_CONFIRMABLE = ErrorResponse(
    412,
    "The request names no shipping method, and none of the options is the account's default; or the quote is not "
    "priced yet.",
    _NO_SHIPPING_METHOD,
    code=Code.SHIPPING_METHOD_REQUIRED,
)
