"""What pages, forms and papers show of products: descriptions, categories, and codes to scan."""

from collections.abc import Sequence

from tradecounter.kit.text import fold
from tradecounter.products.markup_text import text_of_markup
from tradecounter.products.queries.records import CategoryRecord


def shown_description(description: str, markup: str, short: str) -> str:
    """Return a product's description as text: that of its HTML if it has no other, and else the short one."""
    return description or " ".join(text_of_markup(markup).split()) or short


def categories_in_tree(categories: Sequence[CategoryRecord]) -> list[tuple[str, str]]:
    """Return categories by their keys, each below its parent, with the parent's name before its own."""
    name_of = {category.key: category.name for category in categories}
    named = [
        (category.key, [name_of[key] for key in (category.parent_key, category.key) if key in name_of])
        for category in categories
    ]
    return [(key, ": ".join(names)) for key, names in sorted(named, key=lambda found: [fold(n) for n in found[1]])]


class Scanned:
    """What has a product's `sku` and `ean`, and so the codes by which it is scanned."""

    __slots__ = ()
    sku: str
    ean: str | None

    @property
    def codes(self) -> str:
        """What a scan of the product may read, a line each: SKUs may contain spaces."""
        return f"{self.sku}\n{self.ean}" if self.ean else self.sku
