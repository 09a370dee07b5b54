"""`bench/questions/pages.py` opens every page."""

import re
from dataclasses import fields

import pytest

from bench.kit.page_addresses import BEGINNINGS, FURTHER, LEFT_OUT, QUERIES, address_of, pages_of
from bench.kit.page_things import Things
from support.page_routes import SITES, path_of, shown_paths
from tradecounter.edge.pages.page_site import PageSite

_NAME = re.compile(r"\{(\w+)\}")
_THINGS = {field.name for field in fields(Things)}
_ALL = [path for site in SITES for path in shown_paths(site)]


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_the_bench_knows_every_page_of_the_program(site: PageSite) -> None:
    assert sorted(page.path for page in pages_of(site)) == sorted(shown_paths(site))


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_every_page_has_an_address_of_things_that_the_bench_makes_or_a_reason_why_not(site: PageSite) -> None:
    addresses = {path: address_of(path) for path in shown_paths(site) if path not in LEFT_OUT}
    unknown = {path: found for path, at in addresses.items() if (found := {*_NAME.findall(at)} - _THINGS)}
    assert unknown == {}
    assert {path: path_of(site, _NAME.sub("1", at)) for path, at in addresses.items()} == {p: p for p in addresses}


def test_every_further_address_is_of_a_page_and_names_things_that_the_bench_makes() -> None:
    for site in SITES:
        for address in FURTHER[site]:
            assert path_of(site, _NAME.sub("1", address)) is not None, address
            assert {*_NAME.findall(address)} <= _THINGS, address


def test_every_rule_is_of_a_page() -> None:
    assert {*LEFT_OUT, *QUERIES} - {*_ALL} == set()
    assert [each for each in BEGINNINGS if not any(f"{path}/".startswith(f"{each}/") for path in _ALL)] == []


def test_the_bench_makes_nothing_that_no_address_names() -> None:
    addresses = [address_of(path) for path in _ALL if path not in LEFT_OUT]
    addresses += [address for site in SITES for address in FURTHER[site]]
    assert {name for address in addresses for name in _NAME.findall(address)} == _THINGS
