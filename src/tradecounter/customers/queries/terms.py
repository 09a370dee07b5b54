"""The terms that determine a customer's catalogue."""

from msgspec import Struct

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


class CustomerTerms(Struct, frozen=True):
    """A customer's price list (None: the default list), discount in hundredths of a per cent, and trade flag."""

    customer_id: int
    price_list: str | None
    discount: int
    trade_account: bool

    @property
    def profile(self) -> tuple[str | None, int]:
        """What decides the list prices: customers with equal profiles share them."""
        return self.price_list, self.discount


_READ_CUSTOMER_TERMS = Statement(
    """
    select id as customer_id, price_list, (discount * 100)::integer as discount, trade_account
    from customer
    """,
    CustomerTerms,
)


_READ_COMMON_PROFILES = Statement("""
    select price_list, (discount * 100)::integer from customer
    group by price_list, discount order by count(*) desc, price_list, discount limit :most
""")


async def read_common_profiles(tx: Transaction, most: int) -> list[tuple[str | None, int]]:
    """Return the pairs of price list and discount that most customers have, at most `most`."""
    return await tx.fetch_all(_READ_COMMON_PROFILES, most=most)


async def read_customer_terms(tx: Transaction) -> list[CustomerTerms]:
    """Return the terms of all customers."""
    return await tx.fetch_all(_READ_CUSTOMER_TERMS)
