"""What copies of the catalogue lack: followers with equal copies share a page of changes."""

from datetime import date

import numpy as np
from msgspec.structs import replace

from tradecounter.db.seen import Seen
from tradecounter.prices.price_book import PriceVector
from tradecounter.stock.stock_vector import StockVector
from tradecounter.storefront.catalogue_data import no_catalogue_data
from tradecounter.storefront.changes.cursor import Place, Position, Terms
from tradecounter.storefront.changes.differences import Sight, lacks_of
from tradecounter.storefront.changes.journal import Journal
from tradecounter.storefront.view import CustomerView

TERMS = Terms("silver", 250, trade_account=True, low_stock=5, day=date(2026, 11, 29).toordinal())


def place(at: int, transaction: int, *, prices: int = 7) -> Place:
    """What a copy shows that was read at a second, when the next transaction was this one."""
    return Place(Position(b"log", at, (1, prices, 1, 1, 1), Seen(transaction, transaction)), TERMS)


def sight() -> Sight:
    """What a process shows after transactions 9 and 15 have each written a stock level."""
    levels = np.array([3, 4], dtype=np.int64)
    stock = StockVector(levels, levels, np.array([9, 15], dtype=np.int64), {}, b"")
    data = replace(no_catalogue_data(), stock=stock)
    prices = PriceVector(data.book.lists.shared((None, 0)))
    day = date.fromordinal(TERMS.day)
    view = CustomerView(data.snapshot, prices, stock, trade_account=True, low_stock=5, mark=None, day=day)
    return Sight(1, view, data, Journal(), place(200, 20))


def test_copies_read_at_different_moments_lack_the_same() -> None:
    seen = sight()
    assert lacks_of(seen, place(100, 10)) == lacks_of(seen, place(160, 12))


def test_a_copy_that_lacks_one_stock_level_or_version_more_is_another() -> None:
    seen = sight()
    assert lacks_of(seen, place(100, 10)) != lacks_of(seen, place(100, 8))
    assert lacks_of(seen, place(100, 10)) != lacks_of(seen, place(100, 16))
    assert lacks_of(seen, place(100, 10)) != lacks_of(seen, place(100, 10, prices=6))


def test_written_rows_are_found_once_for_all_copies_of_a_read() -> None:
    stock = sight().data.stock
    assert stock.written_between(Seen(8, 8), Seen(20, 20)) is stock.written_between(Seen(8, 8), Seen(20, 20))
    for number in range(2000):  # more reads than are kept
        assert stock.written_between(Seen(number, number), Seen(5000, 5000)).rows.tolist() == [
            row for row, changed_by in enumerate((9, 15)) if changed_by >= number
        ]
