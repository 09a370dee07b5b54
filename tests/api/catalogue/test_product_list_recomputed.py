"""`GET /product` compared with a naive recomputation on the real catalogue."""

import csv
import io
import json
import re
from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.naive_catalogue import (
    EXTRAS,
    AttributeFilter,
    BadRequestError,
    Buyer,
    NaiveCatalogue,
    Row,
    Wanted,
    product_from_csv,
)
from support.real_catalogue import RealShop, Visitor, stock_real_shop
from support.service import Service

VISITORS = ("gold", "silver less 7.35 %", "no list", "contracts")
SIGNS = ("=", "<", ">", "<=", ">=")
LINK = re.compile(r'<([^>]*)>; rel="([a-z]+)"')

NOTHING_FOUND = Wanted(manufacturer=("nobody",))


@pytest.fixture(scope="module")
def real_shop(service: Service) -> RealShop:
    return stock_real_shop(service)


def check(shop: RealShop, visitor: Visitor, wanted: Wanted, *, as_csv: bool) -> int:
    """Compare a response with the recomputed one, body and headers; return the number of matching products."""
    pairs = wanted.pairs()
    address = "/product?" + "&".join(f"{name}={value}" for name, value in pairs)
    response = visitor.customer.get(address, headers={"Accept": "text/csv" if as_csv else "application/json"})
    try:
        expected = shop.naive.listing(visitor.buyer, wanted, csv=as_csv)
    except BadRequestError:
        assert response.status_code == 400
        assert re.match(r"(attribute|reduced): ", response.json()["message"])
        return 0
    assert response.status_code == 200, response.text
    if as_csv:
        lines = csv.DictReader(io.StringIO(response.text, newline=""), strict=True)
        assert [product_from_csv(line) for line in lines] == expected.products
    else:
        assert json.loads(response.text, parse_float=Decimal) == expected.products
    headers = [response.headers[name] for name in ("X-Total-Count", "X-Page", "X-Limit", "X-Total-Pages")]
    assert headers == [str(n) for n in (expected.total, expected.page, expected.limit, expected.pages)]
    links = {rel: url for url, rel in LINK.findall(response.headers.get("Link", ""))}
    assert links == expected.links(f"{shop.service.url}/product", pairs)
    return expected.total


def most_common(values: list[str]) -> str:
    return max(sorted(set(values)), key=values.count)


def _for_all(shop: NaiveCatalogue) -> list[Row]:
    """Return the products with a default price."""
    return [row for row in shop.rows.products if row.get("active", True) and shop.costs(row["sku"], Buyer())]


def _maker(shop: NaiveCatalogue) -> str:
    return most_common([row["manufacturer"] for row in shop.rows.products])


def _parent(shop: NaiveCatalogue) -> Row:
    return next(row for row in shop.rows.categories if len(row["children"] or ()) > 1)


def _number(shop: NaiveCatalogue) -> tuple[str, str]:
    """The attribute of type int that most products have, and its most common value."""
    numbers = [row["key"] for row in shop.rows.attributes if row["type"] == "int"]
    key = most_common([key for row in shop.rows.products for key in row["attributes"] if key in numbers])
    return key, most_common([row["attributes"][key] for row in shop.rows.products if key in row["attributes"]])


def _text(shop: NaiveCatalogue) -> Row:
    return next(row for row in shop.rows.attributes if row["type"] == "string" and len(row["possible_values"]) > 1)


def _flag(shop: NaiveCatalogue) -> Row:
    return next(row for row in shop.rows.attributes if row["type"] == "boolean")


def _compared(*signs: str) -> Callable[[NaiveCatalogue], Wanted]:
    def wanted(shop: NaiveCatalogue) -> Wanted:
        key, value = _number(shop)
        return Wanted(attribute=tuple((key, sign, value) for sign in signs))

    return wanted


CASES: dict[str, Callable[[NaiveCatalogue], Wanted]] = {
    "no parameters": lambda _: Wanted(),
    "a SKU": lambda shop: Wanted(sku=(_for_all(shop)[0]["sku"].swapcase(),)),
    "SKUs, some of them unknown": lambda shop: Wanted(
        sku=("NOTHING", *(row["sku"] for row in _for_all(shop)[:150:2]), "NEITHER"), limit=40
    ),
    "SKUs by price": lambda shop: Wanted(sku=tuple(row["sku"] for row in _for_all(shop)[:20]), sort="price"),
    "a manufacturer": lambda shop: Wanted(manufacturer=(_maker(shop),)),
    "a manufacturer in capitals": lambda shop: Wanted(manufacturer=(_maker(shop).upper(),)),
    "several manufacturers": lambda shop: Wanted(manufacturer=tuple(m["key"] for m in shop.rows.manufacturers[::3])),
    "a known and an unknown manufacturer": lambda shop: Wanted(manufacturer=("nobody", _maker(shop))),
    "a parent category by key": lambda shop: Wanted(category=(_parent(shop)["key"],)),
    "a parent category by name": lambda shop: Wanted(category=(_parent(shop)["name"].upper(),)),
    "a child category by name": lambda shop: Wanted(category=(_parent(shop)["children"][0]["name"],)),
    "two child categories": lambda shop: Wanted(category=tuple(c["key"] for c in _parent(shop)["children"][:2])),
    "a word": lambda shop: Wanted(query=_parent(shop)["name"].split()[0][:4]),
    "an exact SKU": lambda shop: Wanted(query=min((row["sku"] for row in _for_all(shop)), key=len).swapcase()),
    "an exact EAN": lambda shop: Wanted(query=next(row["ean"] for row in _for_all(shop) if row.get("ean"))),
    "equal to a number": _compared("="),
    "below a number": _compared("<"),
    "above a number": _compared(">"),
    "at most a number": _compared("<="),
    "at least a number": _compared(">="),
    "between two numbers": _compared(">=", "<="),
    "one of two numbers": lambda shop: Wanted(
        attribute=((_number(shop)[0], "=", "0.5"), (_number(shop)[0], "=", f"{_number(shop)[1]}.0"))
    ),
    "a text of two": lambda shop: Wanted(
        attribute=tuple((_text(shop)["name"], "=", v["value"].upper()) for v in _text(shop)["possible_values"][:2])
    ),
    "a flag": lambda shop: Wanted(attribute=((_flag(shop)["key"], "=", "TRUE"),)),
    "a flag and a number": lambda shop: Wanted(
        attribute=((_flag(shop)["name"], "=", "false"), (_number(shop)[0], ">", "0.5"))
    ),
    "only reduced": lambda _: Wanted(reduced="true"),
    "not reduced": lambda _: Wanted(clearance="false"),
    "in stock": lambda _: Wanted(in_stock="true"),
    "in stock or not": lambda _: Wanted(in_stock="false"),
    "by price": lambda _: Wanted(sort="price", limit=500),
    "by availability": lambda _: Wanted(sort="availability", limit=500),
    "by SKU": lambda _: Wanted(sort="sku", limit=500),
    "by name": lambda _: Wanted(sort="name", limit=500),
    "all by name": lambda _: Wanted(sort="name", limit=0),
    "with all extras": lambda _: Wanted(extra=tuple(EXTRAS), limit=7),
    "the second page": lambda _: Wanted(page=2, limit=7),
    "beyond the end": lambda _: Wanted(page=100_000),
}


@pytest.mark.sweep(every=18)
@pytest.mark.spec("4 GET /product", "active products at the customer's own prices and stock")
@pytest.mark.parametrize("name", CASES)
def test_each_filter_and_sort_gives_the_recomputed_list(real_shop: RealShop, name: str) -> None:
    wanted = CASES[name](real_shop.naive)
    for visitor in real_shop.visitors.values():
        assert check(real_shop, visitor, wanted, as_csv=False) > 0
    assert check(real_shop, real_shop.visitors["contracts"], wanted, as_csv=True) > 0


@pytest.mark.parametrize("as_csv", [False, True])
def test_a_search_without_results_gives_the_recomputed_empty_list(real_shop: RealShop, *, as_csv: bool) -> None:
    assert check(real_shop, real_shop.visitors["gold"], NOTHING_FOUND, as_csv=as_csv) == 0


def test_all_pages_together_are_the_whole_list(real_shop: RealShop) -> None:
    customer = real_shop.visitors["contracts"].customer
    whole = customer.get("/product?sort=price&limit=0").json()
    address, paged = "/product?sort=price&limit=500", []
    while address:
        response = customer.get(address)
        paged += response.json()
        address = {rel: url for url, rel in LINK.findall(response.headers["Link"])}.get("next", "")
    assert paged == whole


@st.composite
def random_requests(draw: st.DrawFn, shop: NaiveCatalogue) -> Wanted:
    """Draw a combination of parameters, mostly from one product, so many requests find products."""
    model: Row = draw(st.sampled_from(shop.rows.products))
    seldom, often = st.sampled_from([False, False, False, True]), st.booleans()
    words = [word for word in re.split(r"[\s,;]+", f"{model['sku']} {model['name']} {model['description']}") if word]
    query = draw(
        st.sampled_from([model["sku"], model["sku"].swapcase(), model.get("ean") or "0", "xyzzy"])
        | st.lists(st.sampled_from(words), min_size=1, max_size=2).map(lambda some: " ".join(w[:6] for w in some))
    )
    flags = st.sampled_from([None, None, None, "true", "false"])
    return Wanted(
        sku=_with_others(draw, seldom, model["sku"], [row["sku"] for row in shop.rows.products]),
        manufacturer=_with_others(draw, often, model["manufacturer"], [m["key"] for m in shop.rows.manufacturers]),
        category=_with_others(draw, seldom, draw(_category_of(model)), _category_names(shop)),
        query=query[:500] if draw(often) else None,
        attribute=tuple(draw(st.lists(_filters(shop, model), max_size=3))) if draw(often) else (),
        reduced=draw(flags),
        clearance=draw(flags) if draw(seldom) else None,
        in_stock=draw(flags),
        sort=draw(st.sampled_from([None, "price", "availability", "sku", "name"])),
        extra=tuple(draw(st.lists(st.sampled_from(list(EXTRAS)), unique=True, max_size=5))) if draw(seldom) else (),
        page=draw(st.sampled_from([None, None, 1, 2, 3])),
        limit=draw(st.sampled_from([None, None, 0, 1, 3, 20, 500])),
    )


def _with_others(draw: st.DrawFn, chance: st.SearchStrategy[bool], own: str, others: list[str]) -> tuple[str, ...]:
    if not draw(chance):
        return ()
    more = draw(st.lists(st.sampled_from([*others, "nobody"]), max_size=2))
    return tuple(draw(st.permutations([own, *more])))


def _category_of(model: Row) -> st.SearchStrategy[str]:
    return st.sampled_from(model["categories"] or ["none"]).flatmap(lambda key: st.sampled_from([key, key.upper()]))


def _category_names(shop: NaiveCatalogue) -> list[str]:
    children = [child for parent in shop.rows.categories for child in parent["children"] or ()]
    return [row[name] for row in [*shop.rows.categories, *children] for name in ("key", "name")]


def _filters(shop: NaiveCatalogue, model: Row) -> st.SearchStrategy[AttributeFilter]:
    """Draw a filter that the product passes or narrowly fails; now and then an invalid one."""
    attributes = {row["key"]: row for row in shop.rows.attributes}
    own = [key for key in model["attributes"] if key in attributes]

    def of(key: str) -> st.SearchStrategy[AttributeFilter]:
        attribute, value = attributes[key], model["attributes"][key]
        names = st.sampled_from([key, key.upper(), attribute["name"]])
        if attribute["type"] == "int":
            values = st.sampled_from([value, f"{value}.0" if "." not in value else value, "8", "0.5"])
            return st.tuples(names, st.sampled_from(SIGNS), values)
        other = [v["value"] for v in attribute["possible_values"]] or [value]
        return st.tuples(names, st.just("="), st.sampled_from([value, value.swapcase(), *other]))

    invalid = st.sampled_from([("no such attribute", "=", "1"), (own[0] if own else "none", "<", "much")])
    valid = st.sampled_from(own).flatmap(of) if own else invalid
    return st.integers(0, 9).flatmap(lambda chance: invalid if chance == 9 else valid)


@pytest.mark.sweep
@settings(max_examples=80, derandomize=True, deadline=None)
@given(data=st.data(), name=st.sampled_from(VISITORS), as_csv=st.booleans())
def test_random_combinations_of_parameters_give_the_recomputed_list(
    real_shop: RealShop, data: st.DataObject, name: str, *, as_csv: bool
) -> None:
    check(real_shop, real_shop.visitors[name], data.draw(random_requests(real_shop.naive)), as_csv=as_csv)
