"""The change feed as an iterator of batches, which survives restarts because each batch has its cursor."""

from collections.abc import Iterator
from dataclasses import dataclass

from tradecounter_client.connection import Connection, Parameter
from tradecounter_client.errors import CursorExpired, InvalidResponse
from tradecounter_client.models import CatalogueChange, Product
from tradecounter_client.transport import Response


@dataclass(frozen=True, slots=True)
class Batch:
    """Changes to apply to a copy, and the cursor to store with them in one transaction.

    Delete `removed` first: a SKU that is spelled in other case now is also among the products.
    `whole`: the products are the whole catalogue, so that the copy loses all others. A product may be as the copy
    has it, and there may be no change at all.
    """

    whole: bool
    products: list[Product]  # new ones and changed ones
    removed: list[str]  # SKUs that the account cannot buy any more
    cursor: str


def batches(api: Connection, after: str | None, wait: int | None) -> Iterator[Batch]:
    """Batches from a cursor on, endless with `wait`. An expired cursor begins again with the whole catalogue.

    So does an empty one: the service would begin with what changes from now on.
    """
    while True:
        if not after:
            yield (batch := _whole(api))
        else:
            try:
                batch = _changes(api, after, wait)
            except CursorExpired:
                after = None
                continue
            yield batch
            if wait is None and not batch.products and not batch.removed:
                return
        after = batch.cursor


def _whole(api: Connection) -> Batch:
    """In one response: products move between the pages of a catalogue that changes."""
    products, response = api.read("/product", list[Product], {"limit": 0})
    return Batch(whole=True, products=products, removed=[], cursor=_cursor(response))


def _changes(api: Connection, after: str, wait: int | None) -> Batch:
    parameters: dict[str, Parameter] = {"after": after, "limit": 500, "wait": wait}
    changes, response = api.read("/catalogue/change", list[CatalogueChange], parameters, extra_time=wait or 0)
    products = [change.product for change in changes if change.product is not None]
    removed = [change.sku for change in changes if change.product is None]
    return Batch(whole=False, products=products, removed=removed, cursor=_cursor(response))


def _cursor(response: Response) -> str:
    found = response.headers.get("X-Cursor")
    if not found:
        raise InvalidResponse("the service sends no X-Cursor: it has no change feed")
    return found
