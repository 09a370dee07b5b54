"""The search of products, compared with a plain scan of all texts, and what each rule of it finds."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyroaring import BitMap

from support.catalogue_records import product_record
from support.naive_search import NaiveSearch, Texts
from tradecounter.kit.text import joined_word, words
from tradecounter.products.markup_text import text_of_markup
from tradecounter.products.queries.records import (
    AttributeRecord,
    CategoryRecord,
    ManufacturerRecord,
    ProductRecord,
    ReferenceRecords,
)
from tradecounter.products.search.index import MOST_RECENT
from tradecounter.products.search.query import FoundRows, as_typed, is_as_typed, search
from tradecounter.products.snapshot.catalogue_snapshot import CatalogueSnapshot, build_snapshot
from tradecounter.products.snapshot.layout import from_bytes, to_bytes

REFERENCE = ReferenceRecords(
    [CategoryRecord("cables", "Patch leads", None), CategoryRecord("fibre-leads", "Fibre leads", "cables")],
    [ManufacturerRecord("acme", "Acme Networks")],
    [AttributeRecord("colour", "Colour", "string", []), AttributeRecord("poe", "PoE", "boolean", [])],
)


def shop(*names: str, **values: Any) -> CatalogueSnapshot:
    return build_snapshot(
        REFERENCE, [product_record(f"X{n}", name=name, manufacturer="", **values) for n, name in enumerate(names)]
    )


def found_in(snapshot: CatalogueSnapshot, query: str) -> FoundRows:
    return search(snapshot.search, query, snapshot.active)


def names(snapshot: CatalogueSnapshot, query: str) -> list[str]:
    """The names of what is found, most relevant first."""
    return [snapshot.product(row).name for tier in found_in(snapshot, query).tiers() for row in tier]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("--- / _ ...", []),
        ("WS-C2960-24TC-L", ["ws", "c2960", "24tc", "l"]),
        ("snake_case", ["snake", "case"]),
        ("Élan élan e\u0301lan ELAN", ["elan"] * 4),
        ("Straße STRASSE", ["strasse"] * 2),
        ("Łącznik Ørsted Æther Œuvre þorn", ["lacznik", "orsted", "aether", "oeuvre", "thorn"]),
        ("İzmir", ["izmir"]),
        ("ﬁbre ½ m² 10µm", ["fibre", "1", "2", "m2", "10μm"]),
        ("8‑Port 日本語 телефон", ["8", "port", "日本語", "телефон"]),  # noqa: RUF001 the same
        ("½-rack", ["1", "2", "rack"]),
        ("don't", ["don", "t"]),
    ],
)
def test_words_are_runs_of_letters_and_digits_without_case_and_accents(text: str, found: list[str]) -> None:
    assert words(text) == found
    assert joined_word(text) == "".join(found)


@pytest.mark.parametrize(
    ("name", "queries"),
    [
        ("Wi-Fi router", ["wifi", "wi-fi", "wi fi", "WiFi router", "router wi_fi", "wlan"]),
        ("WiFi router", ["wifi", "wi-fi", "wi fi"]),
        ("Wi Fi router", ["wifi", "wi-fi", "wi fi"]),
        ("Cat6A cable", ["cat6a", "cat 6a", "cat-6a", "cat6"]),
        ("Cat 6A cable", ["cat6a", "cat 6a", "cat-6a", "cat6"]),
        ("Cat-6A cable", ["cat6a", "cat 6a", "cat-6a", "CAT6A cables"]),
        ("USB-C lead", ["usbc", "usb-c", "usb c", "usbc lead"]),
        ("Lead of 2 m", ["2m", "2 m", "lead 2m"]),
        ("Lead of 2m", ["2m", "2 m", "2-m"]),
        ("Cisco WS-C2960-24TT-L", ["wsc2960", "ws-c2960", "ws c2960", "c2960-24tt", "wsc296024ttl"]),
        ("Patch panel", ["patch panel", "panel patch", "patchpanel", "patch-panels", "pat pan"]),
        ("Headset", ["headsets", "headset", "HEADSETS"]),
        ("Network switches", ["switch", "switches", "networks", "networking"]),
        ("Three SFPs and PDUs", ["sfp", "pdu", "sfps"]),
        ("Łącznik Ørsted Æther Straße", ["lacznik", "orsted", "aether", "strasse", "łącznik"]),
        ("Power adaptor", ["power adapter", "adapters", "adaptors"]),
        ("Cord for patches, a patch cord", ["patch lead", "patchcable", "patch cables"]),
        ("Midspan", ["poe injector", "poe injectors", "midspans"]),
        ("Fibre module", ["fiber", "fibers"]),
        ("Rack PDU", ["power distribution unit", "power distribution units"]),
        ("Uninterruptible power supply", ["ups", "ups"]),
        ("NVR", ["network video recorder"]),
        ("AP outdoor", ["access point", "accesspoints"]),
        ("Bluetooth switch", ["blutooth", "swicth", "blutooth swicth", "blue-tooth", "blue tooth"]),
    ],
)
def test_a_name_is_found_however_its_words_are_written(name: str, queries: list[str]) -> None:
    snapshot = shop(name, "Something else")
    for query in queries:
        assert names(snapshot, query) == [name], query


def test_words_apart_find_longer_words_as_the_joined_word_does() -> None:
    snapshot = shop("Wi-Fi router", "Wi-Fi6 router", "Wireless for fibre")
    assert names(snapshot, "wi fi") == names(snapshot, "wifi") == ["Wi-Fi router", "Wi-Fi6 router"]


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("USB-C lead", "us bc"),
        ("Cat 6 cable of 7 m", "cat7"),
        ("Cat6 cable", "cat7"),
        ("SFP module", "transceiver"),
        ("Up to 24 ports", "ups"),
        ("Cable", "cab1e"),
        ("Hub", "hup"),
        ("Patch panel", "panelpatch"),
        ("Switch", "£"),
        ("Switch", " -- "),
        ("Switch", "switch nothing"),
    ],
)
def test_what_only_resembles_a_name_does_not_find_it(name: str, query: str) -> None:
    assert names(shop(name), query) == []


def test_the_documented_fields_are_searched_in_the_order_of_results() -> None:
    plain: dict[str, Any] = {"description": "", "manufacturer": "", "name": "Plain"}
    fields: list[dict[str, Any]] = [
        {"sku": "Z-FIBRE"},
        {"sku": "Y", "name": "Fibre"},
        {"sku": "W", "manufacturer": "fibre"},
        {"sku": "V", "categories": ["fibre-leads"]},
        {"sku": "U", "attributes": {"colour": "fibre"}},
        {"sku": "T", "description": "fibre"},
        {"sku": "S", "description_html": "<i title='x'>fibre</i>"},
        {"sku": "R", "short_description": "fibre"},
        {"sku": "Q", "description_html": "<i title='fibre'>x</i>", "store_url": "https://fibre.example"},
        {"sku": "P", "attributes": {"poe": "fibre"}},
        {"sku": "O", "related_products": ["fibre"], "attributes": {"other": "fibre"}},
    ]
    snapshot = build_snapshot(REFERENCE, [product_record(**plain | values) for values in fields])
    skus = [snapshot.product(row).sku for tier in found_in(snapshot, "fibre").tiers() for row in tier]
    assert skus == ["Z-FIBRE", "Y", "W", "V", "U", "R", "S", "T"]
    assert [snapshot.product(row).sku for row in found_in(snapshot, "lead").rows] == ["V"]


def test_whole_words_come_before_beginnings_and_the_order_typed_before_others() -> None:
    named = ["Paneltop, patched", "Panels, patch", "Patch panel", "Patchwork panelist", "Black patch of a panel"]
    assert names(shop(*named), "patch panel") == [named[n] for n in (2, 4, 1, 3, 0)]


def test_a_mistyped_word_is_read_as_the_nearest_that_something_visible_has() -> None:
    snapshot = shop("Bluetooth headset", "Switch", "Swiss knife")
    assert found_in(snapshot, "blutooth headset").corrected == (("blutooth", "bluetooth"),)
    assert found_in(snapshot, "swis").corrected == ()
    for query in ("bluetoth", "bleutooth", "bluetooths", "bleutoohth"):
        assert names(snapshot, query) == ["Bluetooth headset"], query
    assert names(snapshot, "blutoth") == []
    hidden = search(snapshot.search, "blutooth", BitMap([1, 2]))
    assert (list(hidden.rows), hidden.corrected) == ([], ())


def test_a_word_that_any_visible_product_has_is_not_corrected() -> None:
    snapshot = shop("Form", "From", "Forma")
    assert names(snapshot, "form") == ["Form", "Forma"]
    assert found_in(snapshot, "form").corrected == ()
    assert search(snapshot.search, "form", BitMap([1])).corrected == (("form", "from"),)


@pytest.mark.parametrize(
    ("name", "hidden", "query", "found"),
    [
        ("Patchwork panelling", "Patch-panel", "patch panel", [0]),
        ("Patch panel", "Patchpanel", "patchpanl", []),
        ("Le Mans cab", "Cab-leofflax", "cab-le", [0]),
    ],
)
def test_hidden_products_change_nothing_of_what_is_found(name: str, hidden: str, query: str, found: list[int]) -> None:
    for snapshot in (shop(name), shop(name, hidden)):
        seen = search(snapshot.search, query, BitMap([0]))
        assert (list(seen.rows), seen.corrected) == (found, ())


def test_a_word_that_only_a_stem_has_is_read_as_the_nearest_too() -> None:
    snapshot = shop("Allied", "All in one")
    assert names(snapshot, "alled") == ["Allied", "All in one"]
    assert found_in(snapshot, "alled").corrected == (("alled", "allied"),)
    assert names(snapshot, "ones") == ["All in one"]
    assert found_in(snapshot, "ones").corrected == ()


def test_no_word_is_corrected_if_another_is_like_none() -> None:
    snapshot = shop("WiFi router")
    for query in ("routr zzzzzz", "zzzzzz routr"):
        found = found_in(snapshot, query)
        assert (list(found.rows), found.corrected, found.note) == ([], (), "")


def test_a_mistyped_word_may_come_again() -> None:
    found = found_in(shop("Router switch bluetooth cables keyboard"), "routr swicth blutooth cabels keyboarf routr")
    assert list(found.rows) == [0]
    assert len(found.corrected) == 5


def test_a_word_that_only_a_stem_has_does_not_keep_others_from_being_corrected() -> None:
    snapshot = shop("All in one router")
    found = found_in(snapshot, "alled routr")
    assert (list(found.rows), found.corrected) == ([0], (("routr", "router"),))


@pytest.mark.parametrize("query", ['"alled"', "“alled”", ' "alled" '])
def test_words_in_quotes_are_searched_for_as_they_are_typed(query: str) -> None:
    snapshot = shop("Allied", "All in one")
    assert names(snapshot, query) == ["All in one"]
    assert found_in(snapshot, query).corrected == ()
    assert is_as_typed(query)
    assert as_typed(query) == query
    assert names(snapshot, as_typed("alled")) == ["All in one"]
    for other in ('"', '""', '"allied', 'allied 19"', ""):
        assert not is_as_typed(other), other


def test_the_index_remembers_the_words_that_were_searched_for_last() -> None:
    index = shop("Switch of 8 ports", "Router").search
    router = index.entry_of("router")
    for number in range(MOST_RECENT - 1):
        index.entry_of(f"word{number}")
    assert index.entry_of("router") is router
    index.entry_of("switch")  # forgets `word0`
    assert index.recent.get("word0", typed_as_one=True) is None
    assert index.entry_of("router") is router
    assert index.recent.get("router", typed_as_one=False) is None, (
        "joined from several words, it matches other products"
    )


def test_imported_groups_of_synonyms_add_to_those_of_the_program() -> None:
    reference = ReferenceRecords([], [], [], ["Handset, desk phone", "wifi, wireless"])
    snapshot = build_snapshot(
        reference, [product_record(f"S{n}", name=name) for n, name in enumerate(("Desk phones", "WLAN card"))]
    )
    assert names(snapshot, "handset") == names(snapshot, "handsets") == ["Desk phones"]
    assert names(snapshot, "wifi") == ["WLAN card"]
    assert names(snapshot, "wireless") == []


@pytest.mark.parametrize(
    ("markup", "found"),
    [
        ("", []),
        ("plain text", ["plain", "text"]),
        ("<p class='hidden'>one</p><p>two</p>", ["one", "two"]),
        ("one<br>two<br/>three", ["one", "two", "three"]),
        ("R&amp;D &eacute;t&#233; &#xe9;", ["r", "d", "ete", "e"]),
        ("<!-- not this -->this", ["this"]),
        ("<script>var x</script><style>p {}</style>seen", ["seen"]),
        ("a < b and b > a", ["a", "b", "and", "b", "a"]),
        ("<![if IE]>one<![endif]>", ["one"]),
        ("<![CDATA[x]]>two", ["two"]),
        ("<![nonsense[", ["nonsense"]),
        ("<!DOCTYPE html><?php x ?>three", ["three"]),
    ],
)
def test_the_text_of_markup_is_the_text_between_tags(markup: str, found: list[str]) -> None:
    assert words(text_of_markup(markup)) == found


@settings(max_examples=200, derandomize=True, deadline=None)
@given(
    st.lists(st.sampled_from(["<", "!", "[", "]", ">", "-", "/", "a", "?", "&", "#", ";", "\\", "'", " ", "script"]))
)
def test_malformed_markup_never_raises_an_error(pieces: list[str]) -> None:
    assert isinstance(text_of_markup("".join(pieces)), str)


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<a" * 40_000, "<a" * 40_000),
        ('<a b="' * 15_000, '<a b="' * 15_000),
        ("<!--" * 25_000, "<!--" * 25_000),
        ("<!-- -" * 16_000, "<!-- -" * 16_000),
        ("<script>" * 12_000, ""),
        ("&" * 100_000, "&" * 100_000),
        ("<p>&#" + "9" * 5_000 + ";</p>", "&#" + "9" * 5_000 + ";"),
    ],
    ids=lambda markup: markup[:6],
)
def test_random_markup_has_a_text(markup: str, text: str) -> None:
    assert text_of_markup(markup).strip() == text


PIECES = st.sampled_from(
    ["wi", "fi", "wifi", "allied", "all", "usb", "c", "cat", "6a", "6", "2", "m", "patch", "panel", "panels", "switch",
     "switching",     "ap", "access", "point", "fibre", "fiber", "É", "ß", "Straße"]
)  # fmt: skip
MARKS = st.sampled_from([" ", " ", " ", "-", "", "/", ", "])
TEXT = st.lists(st.tuples(PIECES, MARKS), max_size=4).map(lambda pairs: "".join(map("".join, pairs)))
QUERY = st.lists(st.tuples(PIECES | st.text("acfinpswtuhed", min_size=1, max_size=6), MARKS), max_size=4).map(
    lambda pairs: "".join(map("".join, pairs))
)
PRODUCTS = st.lists(st.fixed_dictionaries(dict.fromkeys(("sku", "name", "colour", "text"), TEXT)), max_size=5)


def recorded(number: int, texts: dict[str, str]) -> ProductRecord:
    return product_record(
        f"{number}{texts['sku']}", name=texts["name"], manufacturer="", description=texts["text"],
        attributes={"colour": texts["colour"]},
    )  # fmt: skip


def plainly(product: ProductRecord) -> Texts:
    attributes = list(product.attributes.values())
    return {"code": [product.sku], "name": [product.name], "attribute": attributes, "text": [product.description]}


def expected_tiers(naive: NaiveSearch, query: str) -> list[list[int]]:
    words, _ = naive.read(query)
    keys = {
        number: (place, not whole, place > 1 or len(words) == 1 or not naive.in_order(number, words))
        for number, (place, whole) in naive.levels(words).items()
    }
    return [[row for row in sorted(keys) if keys[row] == key] for key in sorted(set(keys.values()))]


@pytest.mark.sweep
@settings(max_examples=300, derandomize=True, deadline=None)
@given(products=PRODUCTS, query=QUERY, hidden=st.sets(st.integers(0, 4), max_size=2))
def test_the_index_and_a_scan_of_all_texts_find_the_same(
    products: Sequence[dict[str, str]], query: str, hidden: set[int]
) -> None:
    records = [recorded(number, texts) for number, texts in enumerate(products)]
    snapshot = from_bytes(to_bytes(build_snapshot(REFERENCE, records)))
    visible = set(range(len(records))) - hidden
    naive = NaiveSearch([plainly(snapshot.product(row)) for row in range(len(records))], visible)
    found_in(snapshot, query)  # by a customer who sees everything; its words are remembered
    found = search(snapshot.search, query, BitMap(visible))
    assert dict(found.corrected) == naive.read(query)[1]
    assert [list(tier) for tier in found.tiers() if tier] == expected_tiers(naive, query)
    assert sorted(row for tier in found.tiers() for row in tier) == list(found.rows)
