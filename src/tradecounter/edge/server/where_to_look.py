"""Adds the customers' API's routes to messages that say what else to do; pages and commands show them without."""

from collections.abc import Sequence

from msgspec.structs import replace

from tradecounter.kit.errors import FieldError

_OF_STAFF = "/api/"
_MORE = {
    "request a quote instead": " (POST /quote)",
    "is not one of your addresses": "; GET /customer/address lists them",
    "is not an attribute": "; GET /attribute lists them",
}


def with_routes(path: str, message: str, errors: Sequence[FieldError]) -> tuple[str, Sequence[FieldError]]:
    """Return what an error response says: for requests of customers, with the routes that help."""
    if path.startswith(_OF_STAFF) or not any(phrase in message for phrase in _MORE):
        return message, errors
    return _routed(message), [replace(error, message=_routed(error.message)) for error in errors]


def _routed(message: str) -> str:
    for phrase, more in _MORE.items():
        message = message.replace(phrase, phrase + more)
    return message
