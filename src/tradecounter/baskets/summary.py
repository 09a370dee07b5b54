"""What the header of every page says of a user's basket."""

from decimal import Decimal

from tradecounter.baskets.queries import BasketLine, lines_of_basket
from tradecounter.db.transaction import Transaction
from tradecounter.edge.pages.page_view import HeaderBasket
from tradecounter.edge.people import CustomerUser
from tradecounter.kit.money import NOTHING, from_pence
from tradecounter.storefront.view import CustomerView


async def summarise(tx: Transaction, user: CustomerUser, view: CustomerView | None) -> HeaderBasket:
    """Return how many lines a basket has, and their net price as far as the customer can buy the products."""
    lines = await lines_of_basket(tx, user.id)
    return HeaderBasket(len(lines), NOTHING if view is None else sum((_net(view, line) for line in lines), NOTHING))


def _net(view: CustomerView, line: BasketLine) -> Decimal:
    found = view.find_id(line.product_id)
    return NOTHING if found is None else from_pence(found[1].at(line.quantity)) * line.quantity
