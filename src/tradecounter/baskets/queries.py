"""Reads and writes baskets, which have a line for each product."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


class BasketLine(Struct, frozen=True):
    """A product in a basket. `position` is greater than that of all lines that were there before."""

    position: int
    product_id: int
    sku: str
    quantity: int
    note: str


_LINES = Statement(
    "select b.position, b.product_id, p.sku, b.quantity, b.note"
    " from basket_line b join product p on p.id = b.product_id where b.user_id = :user_id order by b.position",
    BasketLine,
)


async def lines_of_basket(tx: Transaction, user_id: int) -> list[BasketLine]:
    """Return what a user has in the basket, the newest line last."""
    return await tx.fetch_all(_LINES, user_id=user_id)


_ADD = Statement("""
    insert into basket_line (user_id, product_id, quantity)
    select :user_id, product_id, quantity
    from unnest(:product_ids::bigint[], :quantities::bigint[]) with ordinality as wanted (product_id, quantity, place)
    order by place
    on conflict (user_id, product_id) do update
        set quantity = basket_line.quantity + excluded.quantity
""")


async def add_lines(tx: Transaction, user_id: int, lines: Sequence[tuple[int, int]]) -> None:
    """Add pairs of product and units, of different products."""
    products, quantities = _columns(lines)
    await tx.execute(_ADD, user_id=user_id, product_ids=products, quantities=quantities)


_LEAVE_OUT = Statement(
    "delete from basket_line"
    " where user_id = :user_id and position <= :seen and product_id <> all(:product_ids::bigint[])"
)
_SET = Statement("""
    insert into basket_line (user_id, product_id, quantity, note)
    select :user_id, product_id, quantity, note
    from unnest(:product_ids::bigint[], :quantities::bigint[], :notes::text[])
        with ordinality as wanted (product_id, quantity, note, place)
    order by place
    on conflict (user_id, product_id) do update set quantity = excluded.quantity, note = excluded.note
""")


async def replace_lines(tx: Transaction, user_id: int, lines: Sequence[tuple[int, int, str]], seen: int) -> None:
    """Have a basket contain these products with units and a note, of different products.

    Of its other lines, those after the position `seen` stay.
    """
    products, quantities = _columns((product, units) for product, units, _ in lines)
    await tx.execute(_LEAVE_OUT, user_id=user_id, product_ids=products, seen=seen)
    await tx.execute(
        _SET, user_id=user_id, product_ids=products, quantities=quantities, notes=[note for _, _, note in lines]
    )


def _columns(lines: Iterable[tuple[int, int]]) -> tuple[list[int], list[int]]:
    pairs = list(lines)
    return [product for product, _ in pairs], [quantity for _, quantity in pairs]
