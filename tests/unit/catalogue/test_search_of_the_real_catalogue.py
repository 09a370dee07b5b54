"""Every product of a real catalogue is found by its name, however the words of the name are written."""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from pyroaring import BitMap
from pyxdameraulevenshtein import damerau_levenshtein_distance_seqs

from support.catalogue_records import product_record
from support.real_catalogue import shop_rows
from tradecounter.kit.text import words
from tradecounter.products.queries.records import ReferenceRecords
from tradecounter.products.search.query import search
from tradecounter.products.snapshot.catalogue_snapshot import CatalogueSnapshot, build_snapshot

pytestmark = pytest.mark.long

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Shop:
    """The catalogue, and the words that it has."""

    snapshot: CatalogueSnapshot
    known: list[str]

    def finds(self, name: str, query: str) -> bool:
        found = search(self.snapshot.search, query, BitMap(range(len(self.snapshot))))
        return any(self.snapshot.product(row).name == name for row in found.rows)


@pytest.fixture(scope="module")
def shop() -> Shop:
    rows = shop_rows().products
    snapshot = build_snapshot(
        ReferenceRecords([], [], []),
        [product_record(row["sku"], name=row["name"], description=row["description"] or "") for row in rows],
    )
    texts = " ".join(f"{row['sku']} {row['name']} {row['description'] or ''}" for row in rows)
    return Shop(snapshot, sorted(set(words(texts)) | {"".join(words(token)) for token in texts.split()}))


def parted(name: str, _dice: random.Random) -> str:
    """Blanks for all punctuation, and where letters and digits meet."""
    return re.sub(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)", " ", " ".join(words(name)))


def without_punctuation(name: str, _dice: random.Random) -> str:
    return " ".join("".join(words(token)) for token in name.split())


def joined(name: str, dice: random.Random) -> str:
    """Two neighbouring words written as one."""
    tokens = words(name)
    if len(tokens) < 2:
        return name
    at = dice.randrange(len(tokens) - 1)
    return " ".join([*tokens[:at], tokens[at] + tokens[at + 1], *tokens[at + 2 :]])


def in_plural(name: str, _dice: random.Random) -> str:
    plain = [word for word in words(name) if word.isalpha() and len(word) > 3 and word[-1] not in "sxyz"]
    return " ".join(word + ("es" if word.endswith(("ch", "sh")) else "s") for word in plain) or name


def backwards(name: str, _dice: random.Random) -> str:
    return " ".join(reversed(words(name)))


@pytest.mark.parametrize("written", [parted, without_punctuation, joined, in_plural, backwards])
def test_every_product_is_found_by_its_name(shop: Shop, written: Callable[[str, random.Random], str]) -> None:
    dice = random.Random(1)  # noqa: S311 not for secrets
    queries = {row["name"]: written(row["name"], dice) for row in shop_rows().products if words(row["name"])}
    assert {name: query for name, query in queries.items() if not shop.finds(name, query)} == {}


def mistyped(word: str, dice: random.Random) -> str:
    at, letter = dice.randrange(len(word) - 1), dice.choice(LETTERS)
    return dice.choice(
        [
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
            word[:at] + letter + word[at + 1 :],
            word[:at] + letter + word[at:],
            word[:at] + word[at + 1 :],
        ]
    )


def test_every_product_is_found_with_one_word_mistyped(shop: Shop) -> None:
    dice = random.Random(2)  # noqa: S311 not for secrets
    tried, lost = 0, {}
    for row in shop_rows().products:
        name, own = row["name"], words(row["name"])
        chosen = dice.choice([word for word in own if len(word) > 4 and word.isascii() and word.isalpha()] or [""])
        typed = mistyped(chosen, dice) if chosen else ""
        if typed == chosen or any(word.startswith(typed) for word in shop.known):
            continue
        alike = [word for word in shop.known if abs(len(word) - len(typed)) <= 1]
        distances = damerau_levenshtein_distance_seqs(typed, alike)
        if distances.count(min(distances)) > 1 or alike[distances.index(min(distances))] != chosen:
            continue
        tried += 1
        query = " ".join(typed if word == chosen else word for word in own)
        if not shop.finds(name, query):
            lost[name] = query
    assert lost == {}
    assert tried > len(shop_rows().products) / 3
