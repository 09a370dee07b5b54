"""Names the fields of errors by their places in the body of a request.

Use cases name an item by its id or its SKU, as the command line does; a body names it by its place: `items[0]`.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import UNSET, Struct

from tradecounter.backoffice.order_wire import QuotePrice
from tradecounter.kit.errors import DomainError, FieldError, invalid_fields
from tradecounter.kit.text import fold
from tradecounter.ordering.units import item_field


@contextmanager
def placed_in(body: Struct) -> Iterator[None]:
    """Run a block, and name the items of a body by their places in its DomainError."""
    try:
        yield
    except DomainError as error:
        places = dict(_places(body))
        if not places or not error.field_errors:
            raise
        found = [FieldError(places.get(fold(each.field), each.field), each.message) for each in error.field_errors]
        raise invalid_fields(found) from error


def _places(body: Struct) -> Iterator[tuple[str, str]]:
    items = getattr(body, "items", UNSET)
    for number, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(body, QuotePrice):
            yield fold(item.sku), f"items[{number}]"
        elif getattr(item, "id", None) is not None:
            yield fold(item_field(item.id)), f"items[{number}]"
    if isinstance(body, QuotePrice):
        for number, option in enumerate(body.shipping):
            yield fold(f"shipping {option.id}"), f"shipping[{number}]"
