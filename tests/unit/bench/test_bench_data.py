"""The data of the benchmarks: the same on every run, and varied as real data are."""

from itertools import islice
from pathlib import Path

import pytest

from bench.kit.catalogue import DEMO_DATA, Product, multiplied, read_catalogue, write_prices, write_products
from bench.kit.customers import COUNT, DISCOUNTS, LISTS, PROFILES, WITH_CONTRACTS, key_of
from bench.questions.filtered_page import FILTERS, filters
from bench.questions.place_orders import orders
from bench.questions.search import QUERIES, queries

WANTED = 2000


@pytest.fixture(scope="module")
def products() -> list[Product]:
    return list(read_catalogue(DEMO_DATA).products)


@pytest.fixture(scope="module")
def many(products: list[Product]) -> list[Product]:
    return list(multiplied(products, WANTED))


def test_multiplying_gives_as_many_as_wanted_and_begins_with_the_originals(
    products: list[Product], many: list[Product]
) -> None:
    assert len(many) == WANTED
    assert many[: len(products)] == products


def test_skus_and_eans_are_distinct_without_regard_to_case(many: list[Product]) -> None:
    eans = [product["ean"] for product in many if product["ean"]]
    assert len({product["sku"].casefold() for product in many}) == WANTED
    assert len(set(eans)) == len(eans)


def test_eans_have_right_check_digits(many: list[Product]) -> None:
    for product in many[-100:]:
        weighted = [int(digit) * (1, 3)[place % 2] for place, digit in enumerate(product["ean"])]
        assert sum(weighted) % 10 == 0


def test_multiplying_is_the_same_on_every_run_and_another_with_another_seed(
    products: list[Product], many: list[Product]
) -> None:
    assert list(multiplied(products, WANTED)) == many
    assert list(multiplied(products, WANTED, seed=2))[len(products) :] != many[len(products) :]


def test_some_variants_are_of_another_manufacturer_and_all_have_other_names(
    products: list[Product], many: list[Product]
) -> None:
    originals = {product["sku"]: product for product in products}
    variants = [(originals[v["sku"].rpartition("-V")[0]], v) for v in many[len(products) :]]
    moved = sum(original["manufacturer"] != variant["manufacturer"] for original, variant in variants)
    assert 0 < moved < len(variants) / 4
    assert all(original["name"] != variant["name"] for original, variant in variants)


def test_import_files_are_the_same_on_every_run(tmp_path: Path, many: list[Product]) -> None:
    for write in (write_products, write_prices):
        assert write(tmp_path / "one", many).read_bytes() == write(tmp_path / "two", many).read_bytes()


def test_two_hundred_customers_of_every_profile_have_contract_prices() -> None:
    assert len(LISTS) * len(DISCOUNTS) == PROFILES == 20
    assert len(WITH_CONTRACTS) == 200
    assert {number % PROFILES for number in WITH_CONTRACTS} == set(range(PROFILES))
    assert len({key_of(number) for number in range(COUNT)}) == COUNT


def test_filters_and_queries_are_dozens_of_different_ones(products: list[Product]) -> None:
    assert len(set(filters(products))) == FILTERS
    found = queries(products)
    assert len(set(found)) == QUERIES
    assert {len(query.split()) for query in found} == {1, 2, 3}


def test_no_two_orders_of_a_run_are_the_same_request(products: list[Product]) -> None:
    requests = list(islice(orders(products, "run"), 500))
    assert len(set(requests)) == 500
    assert list(islice(orders(products, "run"), 500)) == requests
