"""One customer's contract prices as a table, page by page; and the keys of all price lists."""

from datetime import date
from decimal import Decimal

from msgspec import Struct

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.text import fold


class ContractRow(Struct, frozen=True):
    """A contract price, in net pounds, of a product; valid up to and including the last day."""

    id: int
    sku: str
    sku_key: str
    name: str
    valid_from: date | None
    valid_until: date | None
    single_unit_cost: Decimal
    five_plus_unit_cost: Decimal | None
    ten_plus_unit_cost: Decimal | None

    def state(self, today: date) -> str:
        """Return whether the price is valid on a UK day: `valid`, `later` or `ended`."""
        if self.valid_from is not None and self.valid_from > today:
            return "later"
        return "ended" if self.valid_until is not None and self.valid_until < today else "valid"


_OF_CUSTOMER = Statement(
    """
    select p.id, product.sku, product.sku_key, product.name, p.valid_from, p.valid_until, p.single_unit_cost,
           p.five_plus_unit_cost, p.ten_plus_unit_cost
    from contract_price as p join product on product.id = p.product_id
    where p.customer_id = :customer_id and (product.sku_key, p.id) > (:sku_key, :id)
      and (:text = '' or position(:text in product.sku_key) > 0 or position(:text in lower(product.name)) > 0)
    order by product.sku_key, p.id limit :most
    """,
    ContractRow,
)


async def contract_table(
    tx: Transaction, customer_id: int, text: str, most: int, after: tuple[str, int] | None = None
) -> list[ContractRow]:
    """Return a customer's contract prices by SKU, past and future ones too; `text` is in the SKU or the name."""
    sku_key, row_id = after or ("", 0)
    return await tx.fetch_all(
        _OF_CUSTOMER, customer_id=customer_id, text=fold(text), sku_key=sku_key, id=row_id, most=most
    )


_PRICE_LISTS = Statement("select key from price_list order by key")


async def price_list_keys(tx: Transaction) -> list[str]:
    """Return the keys of all price lists."""
    return [key for (key,) in await tx.fetch_all(_PRICE_LISTS)]
