"""The description of a product that pages show."""

from tradecounter.products.search.builder import text_of_markup


def shown_description(description: str, markup: str, short: str) -> str:
    """Return a product's description as text: that of its HTML if it has no other, and else the short one."""
    return description or " ".join(text_of_markup(markup).split()) or short
