"""The codes of errors: stable words by which programs tell errors apart. The customers' guide explains each."""

from enum import StrEnum


class Code(StrEnum):
    """Why a request is rejected, for programs.

    Codes are added over time: treat one that you do not know by the response's status. None changes its meaning.
    """

    # What a path names and does not exist is `not_found`; what a body names is `unknown_…`.
    ACCESS_DENIED = "access_denied"
    ACCOUNT_BLOCKED = "account_blocked"
    CANCELLED = "cancelled"  # also declined
    CONFLICT = "conflict"  # with existing data, and no other code says how
    CREDIT_EXCEEDED = "credit_exceeded"
    CURSOR_EXPIRED = "cursor_expired"  # of the change feed: the client must read the catalogue again
    DUPLICATE_REFERENCE = "duplicate_reference"
    EXPIRED = "expired"
    IDEMPOTENCY_KEY_REUSED = "idempotency_key_reused"
    IN_PROGRESS = "in_progress"  # a request with the same idempotency key
    INTERNAL_ERROR = "internal_error"
    INVALID = "invalid"
    IP_ADDRESS_BLOCKED = "ip_address_blocked"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    NETWORK_NOT_ALLOWED = "network_not_allowed"  # the key may not be used from this IP address
    NO_CREDIT_TERMS = "no_credit_terms"
    NO_SHIPPING_METHOD = "no_shipping_method"  # none takes the order to its address
    NOT_FOUND = "not_found"
    NOT_INVOICED = "not_invoiced"
    NOT_PRICED = "not_priced"  # the quote
    OUT_OF_STOCK = "out_of_stock"  # of an order that must not wait for stock
    PRICE_CHANGED = "price_changed"  # above what the request allows
    RATE_LIMITED = "rate_limited"
    SCOPE_NEEDED = "scope_needed"
    SHIPPING_METHOD_REQUIRED = "shipping_method_required"
    TOO_LARGE = "too_large"
    TOO_MANY_PENDING = "too_many_pending"
    UNAVAILABLE = "unavailable"
    UNKNOWN_ADDRESS = "unknown_address"
    UNKNOWN_SHIPPING_METHOD = "unknown_shipping_method"
    UNKNOWN_SKU = "unknown_sku"
    UNSUPPORTED_MEDIA = "unsupported_media"
