"""Errors as classes: one for each `code` of the API, below the classes that most programs distinguish."""

from typing import ClassVar

import msgspec

from tradecounter_client.base import from_json
from tradecounter_client.models import Error, FieldError


class TradecounterError(Exception):
    """Whatever goes wrong between a program and the service."""


class NoResponse(TradecounterError):
    """The service could not be reached, or its response was lost, in all attempts."""


class InvalidResponse(TradecounterError):
    """A successful response is none of the API: another server is at this address."""


class ConsentEnded(TradecounterError):
    """The consent is revoked, or its refresh token was used before: the customer's browser has to come again."""


class NotGenuine(TradecounterError):
    """A webhook's request is not from the service, or too old."""


class ApiError(TradecounterError):
    """An error of the API. One whose code this release does not know has this class."""

    code: ClassVar[str] = ""
    by_code: ClassVar[dict[str, type["ApiError"]]] = {}

    def __init__(self, status: int, error: Error, request_id: str | None, retry_after: float | None) -> None:
        self.status = status
        self.received_code = error.code
        self.message = error.message
        self.errors: list[FieldError] = error.errors or []
        self.request_id = request_id  # for support
        self.retry_after = retry_after  # seconds
        super().__init__(f"{status} {error.code}: {error.message}")

    def __init_subclass__(cls) -> None:
        cls.by_code[cls.code] = cls


class Unauthorized(ApiError):
    """The key, the token or the client secret is missing or wrong; the API says no more."""

    code = "unauthorized"


class AccessDenied(ApiError):
    """The credential may not do this, or not from this IP address."""

    code = "access_denied"


class AccountBlocked(ApiError):
    """The account is blocked, so it cannot order."""

    code = "account_blocked"


class Cancelled(ApiError):
    """The order was cancelled, or the quote declined."""

    code = "cancelled"


class Conflict(ApiError):
    """The request contradicts the present state, as the message says."""

    code = "conflict"


class CreditExceeded(ApiError):
    """The available credit is too small."""

    code = "credit_exceeded"


class CursorExpired(ApiError):
    """The cursor of the change feed is too old; `Tradecounter.sync` begins again by itself."""

    code = "cursor_expired"


class DuplicateReference(ApiError):
    """Another order has the customer reference."""

    code = "duplicate_reference"


class Expired(ApiError):
    """The pending order or the quote has expired."""

    code = "expired"


class IdempotencyKeyReused(ApiError):
    """The idempotency key belongs to another request."""

    code = "idempotency_key_reused"


class InProgress(ApiError):
    """A request with the same idempotency key is still being processed."""

    code = "in_progress"


class InternalError(ApiError):
    """The service has a fault: send the `request_id` to support."""

    code = "internal_error"


class Invalid(ApiError):
    """The request, or one of its fields, is not valid."""

    code = "invalid"


class IpAddressBlocked(ApiError):
    """Too many invalid credentials came from the IP address."""

    code = "ip_address_blocked"


class MethodNotAllowed(ApiError):
    """The path has other methods."""

    code = "method_not_allowed"


class NetworkNotAllowed(ApiError):
    """The key may not be used from this IP address."""

    code = "network_not_allowed"


class NoCreditTerms(ApiError):
    """The account has no credit terms, so it cannot order."""

    code = "no_credit_terms"


class NoShippingMethod(ApiError):
    """No shipping method takes the order to its address: ask for a quote."""

    code = "no_shipping_method"


class NotFound(ApiError):
    """It does not exist, or is another customer's."""

    code = "not_found"


class NotInvoiced(ApiError):
    """The order is not invoiced yet."""

    code = "not_invoiced"


class NotPriced(ApiError):
    """The quote is not priced yet."""

    code = "not_priced"


class OutOfStock(ApiError):
    """The order must not wait for stock, and not all is there."""

    code = "out_of_stock"


class PriceChanged(ApiError):
    """The order costs more than it may; `errors` have today's `unit_cost`."""

    code = "price_changed"


class RateLimited(ApiError):
    """The account has sent too many requests."""

    code = "rate_limited"


class ScopeNeeded(ApiError):
    """The credential lacks the scope that the message names."""

    code = "scope_needed"


class ShippingMethodRequired(ApiError):
    """The order has several shipping options: name one."""

    code = "shipping_method_required"


class TooLarge(ApiError):
    """The body, the query or the headers are too long."""

    code = "too_large"


class TooManyPending(ApiError):
    """The account has as many pending orders or unpriced quotes as it may."""

    code = "too_many_pending"


class Unavailable(ApiError):
    """The service or its database cannot be reached."""

    code = "unavailable"


class UnknownAddress(ApiError):
    """No saved address has the id."""

    code = "unknown_address"


class UnknownShippingMethod(ApiError):
    """The shipping method is none of the order's options."""

    code = "unknown_shipping_method"


class UnknownSku(ApiError):
    """An item's product does not exist, or has no price for the account."""

    code = "unknown_sku"


class UnsupportedMedia(ApiError):
    """The body is compressed or not JSON."""

    code = "unsupported_media"


_UNAUTHORIZED = 401


def error_of(status: int, body: bytes, request_id: str | None, retry_after: float | None) -> ApiError:
    """The error that a response is; a proxy's page becomes one too."""
    if status == _UNAUTHORIZED:
        error = Error(message="the key, the token or the client secret is missing or wrong", code=Unauthorized.code)
    else:
        try:
            error = from_json(body, Error)
        except msgspec.MsgspecError:
            error = Error(message=body[:200].decode(errors="replace"), code="")
    return ApiError.by_code.get(error.code, ApiError)(status, error, request_id, retry_after)
