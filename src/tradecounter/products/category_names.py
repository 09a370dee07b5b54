"""How forms name categories that people choose from."""

from collections.abc import Sequence

from tradecounter.kit.text import fold
from tradecounter.products.queries.records import CategoryRecord


def categories_in_tree(categories: Sequence[CategoryRecord]) -> list[tuple[str, str]]:
    """Return categories by their keys, each below its parent, with the parent's name before its own."""
    name_of = {each.key: each.name for each in categories}
    named = [(each.key, [name_of[key] for key in (each.parent_key, each.key) if key in name_of]) for each in categories]
    return [(key, ": ".join(names)) for key, names in sorted(named, key=lambda found: [fold(n) for n in found[1]])]
