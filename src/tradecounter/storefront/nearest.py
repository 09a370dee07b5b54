"""Finding the products whose SKUs look like one that does not exist."""

from difflib import get_close_matches

from tradecounter.catalogue.columns.bitmaps import rows_of
from tradecounter.kit.text import fold
from tradecounter.storefront.view import CustomerView

_NEIGHBOURS = 20  # rows on either side of where the SKU would stand in order
_MOST_FOUND = 20  # rows of the search: the SKU without its punctuation finds the one with it
_ALIKE = 0.6


def nearest_skus(view: CustomerView, sku: str, most: int = 3) -> list[str]:
    """Return the SKUs that are most like one, of products that the customer can buy; the most similar first."""
    place = view.snapshot.row_of_sku.place(fold(sku.strip()))
    rows = {*range(max(place - _NEIGHBOURS, 0), min(place + _NEIGHBOURS, len(view.snapshot.row_of_sku)))}
    if (found := view.snapshot.search.find(sku)) is not None:
        rows.update(rows_of(found[:_MOST_FOUND]).tolist())
    buyable = (row for row in rows if row in view.snapshot.active and view.unit_costs(row) is not None)
    spelled = {fold(product.sku): product.sku for product in map(view.product, sorted(buyable))}
    return [spelled[key] for key in get_close_matches(fold(sku.strip()), spelled, most, _ALIKE)]
