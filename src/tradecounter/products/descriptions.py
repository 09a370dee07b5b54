"""The description of a product that pages show."""

from typing import Protocol

from tradecounter.products.search.builder import text_of_markup


class Described(Protocol):
    """A product with its descriptions, each empty if there is none."""

    @property
    def description(self) -> str: ...

    @property
    def description_html(self) -> str: ...

    @property
    def short_description(self) -> str: ...


def description_of(product: Described) -> str:
    """Return a product's description as text: that of its HTML if it has no other, and else the short one."""
    return (
        product.description or " ".join(text_of_markup(product.description_html).split()) or product.short_description
    )
