"""The codes of errors: stable words by which programs tell errors apart. `/guide` lists them."""

from enum import StrEnum


class Code(StrEnum):
    """Why a request is rejected, for programs. Codes are added over time and never change their meaning."""

    ACCESS_DENIED = "access_denied"  # the back office: the scope, the role or the network does not allow it
    ADDRESS_BLOCKED = "address_blocked"  # too many invalid credentials came from the IP address
    CONFLICT = "conflict"  # conflicts with existing data, and no other code says how
    CREDIT_EXCEEDED = "credit_exceeded"
    DUPLICATE_REFERENCE = "duplicate_reference"
    EXPIRED = "expired"
    IDEMPOTENCY_KEY_REUSED = "idempotency_key_reused"
    IN_PROGRESS = "in_progress"  # a request with the same idempotency key is being carried out
    INTERNAL_ERROR = "internal_error"
    INVALID = "invalid"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    NO_CREDIT_TERMS = "no_credit_terms"
    NOT_FOUND = "not_found"
    NOT_INVOICED = "not_invoiced"
    RATE_LIMITED = "rate_limited"
    REQUIRED_FIRST = "required_first"  # another request must come first
    SHIPPING_METHOD_REQUIRED = "shipping_method_required"
    TOO_LARGE = "too_large"
    TOO_MANY_PENDING = "too_many_pending"
    UNAUTHENTICATED = "unauthenticated"  # of pages and the command line; the API answers 401 with `{}`
    UNAVAILABLE = "unavailable"
    UNKNOWN_ADDRESS = "unknown_address"
    UNKNOWN_SHIPPING_METHOD = "unknown_shipping_method"
    UNKNOWN_SKU = "unknown_sku"
    UNSUPPORTED_MEDIA = "unsupported_media"
