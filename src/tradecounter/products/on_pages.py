"""What pages, forms and papers show of products: descriptions, categories, attributes, pictures and codes to scan."""

import re
from collections.abc import Sequence

from tradecounter.kit.numbers import read_count
from tradecounter.kit.text import fold
from tradecounter.kit.web_addresses import NotAWebAddressError, host_of
from tradecounter.products.markup_text import text_of_markup
from tradecounter.products.queries.records import CategoryRecord, ImageRecord
from tradecounter.products.wire import AttributeType


def shown_description(description: str, markup: str, short: str) -> str:
    """Return a product's description as text: that of its HTML if it has no other, and else the short one."""
    return description or " ".join(text_of_markup(markup).split()) or short


def categories_in_tree(categories: Sequence[CategoryRecord]) -> list[tuple[str, str]]:
    """Return categories by their keys, each below its parent, with the parent's name before its own."""
    name_of = {each.key: each.name for each in categories}
    named = [(each.key, [name_of[key] for key in (each.parent_key, each.key) if key in name_of]) for each in categories]
    return [(key, ": ".join(names)) for key, names in sorted(named, key=lambda found: [fold(n) for n in found[1]])]


def read_attribute_value(attribute_type: AttributeType, text: str) -> str:
    """Return a value as products store it. Raises UnreadableNumberError unless a number is a whole number."""
    return str(read_count(text, signed=True)) if attribute_type == "int" else text


NAME = re.compile(r"(?P<digest>[0-9a-f]{64})\.(?P<ending>png|jpg|webp)")
_FOLDER = "/picture/"
_NEVER_LOADS = (".example", ".invalid")  # reserved names: no host has them


def picture_path(digest: str, ending: str) -> str:
    """Return the path of an uploaded picture: the SHA-256 of its content, and the ending of its kind."""
    return f"{_FOLDER}{digest}.{ending}"


def uploaded_path(address: str) -> str | None:
    """Return the path in the address of an uploaded picture, or None for any other address."""
    _, folder, name = address.rpartition(_FOLDER)
    return folder + name if folder and NAME.fullmatch(name) else None


def pictures_of(images: Sequence[ImageRecord]) -> list[str]:
    """Return the addresses of the pictures that may load on a page, the primary one first."""
    ordered = sorted(images, key=lambda image: not image["is_primary"])
    return [address for image in ordered if (address := loadable(image["url"])) is not None]


def loadable(address: str) -> str | None:
    """Return the address at which a page may load a picture, or None; an uploaded one is on the page's own site."""
    try:
        host = host_of(address, ("https",))
    except NotAWebAddressError:
        return uploaded_path(address)
    if isinstance(host, str) and host.endswith(_NEVER_LOADS):
        return None
    return address


class Scanned:
    """What has a product's `sku` and `ean`, and so the codes by which it is scanned."""

    __slots__ = ()
    sku: str
    ean: str | None

    @property
    def codes(self) -> str:
        """What a scan of the product may read, a line each: SKUs may contain spaces."""
        return f"{self.sku}\n{self.ean}" if self.ean else self.sku
