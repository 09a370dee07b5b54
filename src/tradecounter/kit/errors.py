"""Errors of requests, by kind, and their codes. `sites/http/errors.py` maps kinds to statuses."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from enum import Enum, StrEnum, auto
from typing import Annotated, Self, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from tradecounter.kit.text import shown_name, trimmed


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


Result = TypeVar("Result")

MOST_FIELD_ERRORS = 20  # in a response


class Kind(Enum):
    """The kinds of errors, independent of HTTP."""

    INVALID = auto()  # the request's data is wrong
    UNAUTHENTICATED = auto()  # the credential is missing or invalid
    PAYMENT_REQUIRED = auto()  # no credit terms, or too little credit
    BLOCKED = auto()  # the IP address is blocked temporarily
    FORBIDDEN = auto()  # the scope or the role is missing
    NOT_FOUND = auto()  # unknown, or belongs to another customer
    CONFLICT = auto()  # conflicts with existing data
    GONE = auto()  # expired
    PRECONDITION_FAILED = auto()  # another request must come first
    TOO_LARGE = auto()  # the body exceeds the limit
    QUERY_TOO_LONG = auto()  # the links of the response do not fit
    UNSUPPORTED_MEDIA = auto()  # the body is not plain JSON
    TOO_MANY_REQUESTS = auto()  # over the rate limit
    UNAVAILABLE = auto()  # the database or another service is away


USUAL_CODE = {
    Kind.INVALID: Code.INVALID,
    Kind.UNAUTHENTICATED: Code.ACCESS_DENIED,  # of pages and commands; the API responds with `{}`
    Kind.PAYMENT_REQUIRED: Code.CREDIT_EXCEEDED,
    Kind.BLOCKED: Code.IP_ADDRESS_BLOCKED,
    Kind.FORBIDDEN: Code.ACCESS_DENIED,
    Kind.NOT_FOUND: Code.NOT_FOUND,
    Kind.CONFLICT: Code.CONFLICT,
    Kind.GONE: Code.EXPIRED,
    Kind.PRECONDITION_FAILED: Code.CONFLICT,
    Kind.TOO_LARGE: Code.TOO_LARGE,
    Kind.QUERY_TOO_LONG: Code.TOO_LARGE,
    Kind.UNSUPPORTED_MEDIA: Code.UNSUPPORTED_MEDIA,
    Kind.TOO_MANY_REQUESTS: Code.RATE_LIMITED,
    Kind.UNAVAILABLE: Code.UNAVAILABLE,
}


class FieldError(Struct, frozen=True):
    """One field or parameter that is not valid, and how to correct it."""

    field: Annotated[str, Meta(description="The place of the field.", examples=["items[2].quantity"])]
    message: Annotated[str, Meta(description="How to correct it.", examples=["must be at least 1"])]
    code: Annotated[Code, Meta(description="Why the field is rejected, for programs.")] = Code.INVALID
    unit_cost: Annotated[
        Decimal | UnsetType,
        Meta(description="With `price_changed`: what one unit costs now, in pounds.", examples=[42.5]),
    ] = UNSET

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else f"the body {self.message}"


class DomainError(Exception):
    """An error whose message tells the client what to change; `field_errors` lists the invalid fields, if any.

    `code` is by default the code that all field errors have, or the usual one of the kind.
    `retry_after` is the number of seconds to wait, where waiting helps.
    """

    def __init__(
        self,
        kind: Kind,
        message: str,
        *,
        code: Code | None = None,
        retry_after: int | None = None,
        field_errors: Sequence[FieldError] = (),
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.code = code or _code_of(kind, field_errors)
        self.retry_after = retry_after
        self.field_errors = field_errors
        if kind is not Kind.INVALID:  # no field is wrong by itself
            self.field_errors = [
                replace(error, code=self.code) if error.code is Code.INVALID else error for error in field_errors
            ]


class OperatorError(Exception):
    """The environment is misconfigured; the message tells the operator what to change."""


def _code_of(kind: Kind, field_errors: Sequence[FieldError]) -> Code:
    codes = {error.code for error in field_errors}
    return codes.pop() if len(codes) == 1 and codes != {Code.INVALID} else USUAL_CODE[kind]


def invalid(field: str, problem: str, code: Code = Code.INVALID) -> DomainError:
    """Return the error for one field, with the message `field: problem`."""
    return invalid_fields([FieldError(field, problem, code)])


def invalid_fields(errors: Sequence[FieldError]) -> DomainError:
    """Return the error for several fields; its message names the first twenty."""
    more = len(errors) - MOST_FIELD_ERRORS
    rest = f"; and {more} more" if more > 0 else ""
    return DomainError(Kind.INVALID, "; ".join(map(str, errors[:MOST_FIELD_ERRORS])) + rest, field_errors=errors)


def conflicts(errors: Sequence[FieldError]) -> DomainError:
    """Return the conflict of several fields with what there is; its message names the first twenty."""
    return DomainError(Kind.CONFLICT, invalid_fields(errors).message, field_errors=errors)


def require_text(field: str, text: str, longest: int) -> str:
    """Return a string `trimmed`. Raises DomainError (invalid): it shows nothing, or is too long."""
    text = trimmed(text)
    if not text or len(text) > longest:
        raise invalid(field, f"must have 1 to {longest} characters, not only white space")
    return text


@contextmanager
def named_by(name: Callable[[str], str]) -> Iterator[None]:
    """Run a block, and name the fields of its DomainError: `name` returns what a page or a command calls a field."""
    try:
        yield
    except DomainError as error:
        if not error.field_errors:
            raise
        named = [replace(field_error, field=name(field_error.field)) for field_error in error.field_errors]
        says_fields = error.kind is Kind.INVALID or error.message == invalid_fields(error.field_errors).message
        message = invalid_fields(named).message if says_fields else error.message
        raise DomainError(error.kind, message, code=error.code, field_errors=named) from error


def in_only_item(place: str) -> str:
    """Return what the only item of a list calls a field, for `named_by`: `reason` for `items[0].reason`."""
    return place.removeprefix("items[0].")


class ErrorCollector:
    """Collects the field errors of a request, so that one response reports all of them."""

    def __init__(self, errors: Iterable[FieldError] = ()) -> None:
        self.errors = list(errors)

    def collecting(self) -> Self:
        """Run a block and collect the field errors of its DomainError. Raises a DomainError without field errors."""
        return self

    def __enter__(self) -> None:
        """Do nothing: `collecting` says what the block is for."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        """Collect the errors of a block of `collecting`."""
        if not isinstance(error, DomainError) or not error.field_errors:
            return False
        self.errors += error.field_errors
        return True

    def attempt(self, work: Callable[[], Result]) -> Result | None:
        """Return what `work` returns; None if it raises a DomainError, whose field errors are collected."""
        with self.collecting():
            return work()
        return None

    def check(self) -> None:
        """Raise DomainError (invalid) if errors were collected."""
        if self.errors:
            raise invalid_fields(self.errors)


def not_found(what: str, name: object = "") -> DomainError:
    """Return the error for an unknown object or another customer's; clients cannot distinguish the two.

    `name` is what the request calls the object. Leave out a name that is a secret.
    """
    return DomainError(Kind.NOT_FOUND, " ".join(filter(None, (what, shown_name(str(name)), "not found"))))


def or_not_found(result: Result | None, what: str, name: object = "") -> Result:
    """Return what was found. Raises the error of `not_found` for None."""
    if result is None:
        raise not_found(what, name)
    return result
