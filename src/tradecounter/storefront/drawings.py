"""What is drawn of a product that has no picture: its kind, by words of its categories and name, and its colour."""

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from tradecounter.products.picture_addresses import pictures_of
from tradecounter.products.queries.records import PicturedRecord, ProductRecord

_KINDS = (
    # In this order: a PoE switch is a switch, and a headset's cable a cable.
    ("headset", r"headsets?|headphones?|earphones?|speakerphones?"),
    ("conference", r"conferenc\w*|video bars?|cameras?|webcams?"),
    ("cable", r"cables?|leads?|cords?|patching|dacs?"),
    ("module", r"sfp\w*|modules?|transceivers?|interfaces?|licences?"),
    ("cabinet", r"cabinets?|racks?|mount\w*|brackets?|panels?|enclosures?"),
    ("tool", r"tools?|testers?"),
    ("phone", r"phones?|handsets?|dect|telephones?"),
    ("aerial", r"access points?|aps?|wireless|wi-?fi|aerials?|antennas?|bridges?"),
    ("router", r"routers?|modems?|firewalls?|gateways?|atas?"),
    ("power", r"power|poe injectors?|midspans?|ups|pdus?|suppl(?:y|ies)|batter(?:y|ies)|outlets?"),
    ("switch", r"switch(?:es)?|converters?|servers?|consoles?|pbx\w*|sbcs?|appliances?"),
)
_PATTERNS = [(kind, re.compile(rf"\b(?:{words})\b", re.IGNORECASE)) for kind, words in _KINDS]
_OTHER = "box"

_TINTS = {
    "black": "black",
    "graphite": "black",
    "anthracite": "black",
    "white": "white",
    "ivory": "white",
    "sand": "white",
    "grey": "grey",
    "gray": "grey",
    "steel": "grey",
    "silver": "grey",
    "blue": "blue",
    "aqua": "blue",
    "red": "red",
    "violet": "violet",
    "purple": "violet",
    "yellow": "yellow",
    "orange": "yellow",
    "green": "green",
}
_COLOURS = {"colour", "color"}


def kind_of(texts: Iterable[str]) -> str:
    """Return what to draw: the kind that the first of the texts names that names one, or a box."""
    for text in texts:
        for kind, pattern in _PATTERNS:
            if pattern.search(text):
                return kind
    return _OTHER


def tint_of(attributes: dict[str, str]) -> str:
    """Return the colour to draw a product in, by the attribute Colour; `plain` without one."""
    named = next((value for name, value in attributes.items() if name.lower() in _COLOURS), "")
    return _TINTS.get(named.lower(), "plain")


class Look(Struct, frozen=True):
    """How a page shows a product: the addresses of its pictures, and what is drawn without one."""

    kind: str
    tint: str
    pictures: Sequence[str]


def look_of(record: PicturedRecord | ProductRecord, category_names: Mapping[str, str]) -> Look:
    """Return how a page shows a product; `category_names` are by key."""
    names = [category_names.get(key, key) for key in reversed(record.categories)]
    return Look(kind_of([*names, record.name]), tint_of(record.attributes), pictures_of(record.images))
