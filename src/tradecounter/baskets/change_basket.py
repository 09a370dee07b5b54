"""Changes a user's basket: adds products, saves the form of an order; and sums it up."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Annotated

from msgspec import Meta

from tradecounter.access.queries.people import lock_user
from tradecounter.baskets.queries import BasketLine, add_lines, lines_of_basket, replace_lines
from tradecounter.db.transaction import Transaction
from tradecounter.edge.pages.page_view import HeaderBasket
from tradecounter.edge.people import CustomerUser
from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.kit.money import NOTHING, from_pence
from tradecounter.kit.text import plural
from tradecounter.orders.create.draft import WantedLine, wanted_lines
from tradecounter.orders.lines import added_up
from tradecounter.orders.wire import MOST_ITEMS, MOST_UNITS, CreateOrderItem
from tradecounter.storefront.view import CustomerView

LONGEST_NOTE = 200


class NotedItem(CreateOrderItem):
    """Units of a product, with the user's note about the line."""

    note: Annotated[str, Meta(max_length=LONGEST_NOTE)] = ""


async def add_to_basket(tx: Transaction, user_id: int, view: CustomerView, items: Sequence[CreateOrderItem]) -> None:
    """Add products; units of one that is in the basket are added up. Others who change the basket wait.

    Raises DomainError: invalid, for products that the customer cannot buy and for a basket with too many lines or
    units.
    """
    wanted = wanted_lines(view, items)
    lock_user(tx, user_id)
    _require_room(wanted, await lines_of_basket(tx, user_id))
    await add_lines(tx, user_id, list(_units(wanted).items()))


async def add_what_is_sold(tx: Transaction, user_id: int, view: CustomerView, items: Sequence[CreateOrderItem]) -> str:
    """Add the items whose products the customer can buy, and return what to say of it.

    Raises DomainError: conflict, if it can buy none of them; invalid, for a basket with too many lines or units.
    """
    sold = [item for item in items if view.find(item.sku) is not None]
    if not sold:
        raise DomainError(Kind.CONFLICT, "there is nothing in it that you can buy")
    await add_to_basket(tx, user_id, view, sold)
    left_out = len(items) - len(sold)
    rest = f" {plural(left_out, 'product')} that we no longer sell {'is' if left_out == 1 else 'are'} left out."
    return f"{plural(len(sold), 'product')} added to the basket.{rest if left_out else ''}"


async def save_basket(tx: Transaction, user_id: int, view: CustomerView, items: Sequence[NotedItem], seen: int) -> None:
    """Have the basket contain these products, with their notes. Others who change the basket wait.

    Of its other lines, those after the position `seen` stay. Notes of several lines of a product are one.
    Raises DomainError (invalid), as `add_to_basket` does, and for notes that are too long together.
    """
    lock_user(tx, user_id)
    products = wanted_lines(view, items)
    units = _units(products)
    staying = [line for line in await lines_of_basket(tx, user_id) if line.position > seen]
    _require_room(products, [line for line in staying if line.product_id not in units])
    notes: defaultdict[int, list[str]] = defaultdict(list)
    for item, wanted in zip(items, products, strict=True):
        if item.note and item.note not in notes[wanted.product.id]:
            notes[wanted.product.id].append(item.note)
    joined = {product: "; ".join(written) for product, written in notes.items()}
    if any(len(note) > LONGEST_NOTE for note in joined.values()):
        raise invalid("items", f"have notes on a product of more than {LONGEST_NOTE} characters together")
    await replace_lines(tx, user_id, [(id_, units[id_], joined.get(id_, "")) for id_ in units], seen)


def _units(wanted: Iterable[WantedLine]) -> Counter[int]:
    return added_up((line.product.id, line.quantity) for line in wanted)


def _require_room(wanted: Sequence[WantedLine], there: Iterable[BasketLine]) -> None:
    """Raise DomainError (invalid) if products and the lines that are there are more than an order may have."""
    units = _units(wanted) + added_up((line.product_id, line.quantity) for line in there)
    if len(units) > MOST_ITEMS:
        raise DomainError(Kind.INVALID, f"the basket is full: it has at most {MOST_ITEMS} lines, as an order has")
    if too_many := next((line.product.sku for line in wanted if units[line.product.id] > MOST_UNITS), None):
        raise invalid("items", f"would make more than {MOST_UNITS:,} units of {too_many} in the basket")


async def summarise(tx: Transaction, user: CustomerUser, view: CustomerView | None) -> HeaderBasket:
    """Return how many lines a basket has, and their net price as far as the customer can buy the products."""
    lines = await lines_of_basket(tx, user.id)
    return HeaderBasket(len(lines), NOTHING if view is None else sum((_net(view, line) for line in lines), NOTHING))


def _net(view: CustomerView, line: BasketLine) -> Decimal:
    product = view.find_by_id(line.product_id)
    return NOTHING if product is None else from_pence(product[1].at(line.quantity)) * line.quantity
