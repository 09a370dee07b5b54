"""`table_page` rejects a default order by which not everybody can sort, and asks for the filters that are declared."""

from collections.abc import Callable
from typing import Annotated, Any

import pytest

from tradecounter.edge.page_kit.tables import Column, Filter, Sort, TableOrder, TableParameters, filters_of
from tradecounter.edge.pages.listing import RowsToRead, table_page


class _Filters(TableParameters, frozen=True, kw_only=True):
    latest_first: bool = True


class _Asked(TableParameters, frozen=True, kw_only=True, rename={"since": "from"}):
    since: Annotated[str | None, Filter("From", "date")] = None
    view: str = "all"
    number: Annotated[int | None, Filter("Number", "numeric", more=True)] = None


def _declare(default: str | Callable[[Any], str], needs: dict[str, str]) -> None:
    @table_page(
        "/thing",
        "Things",
        columns=(Column("Name", "name"), Column("Cost", "cost")),
        order=TableOrder({"name": str, "cost": int}, default, lambda row, _: (row, 1)),
        template="things.html",
        file="things",
        cells={},
        needs=needs,
    )
    async def list_things(_self: object, wanted: _Filters, at: RowsToRead) -> list[str]:
        return [f"{wanted} {at}"]


@pytest.mark.parametrize("default", ["age", "-age", lambda wanted: "-age" if wanted.latest_first else "name"])
def test_a_default_order_by_an_unknown_column_is_an_error_of_the_declaration(default: str) -> None:
    with pytest.raises(TypeError, match="/thing: the default order is by 'age'"):
        _declare(default, {})


def test_a_default_order_by_a_column_that_not_everybody_sees_is_an_error_of_the_declaration() -> None:
    with pytest.raises(TypeError, match="/thing: the default order is by 'cost'"):
        _declare("-cost", {"Cost": "prices:read"})


@pytest.mark.parametrize("default", ["name", "-cost", lambda wanted: "-name" if wanted.latest_first else "name"])
def test_a_default_order_by_a_column_that_everybody_sees_is_declared(default: str) -> None:
    _declare(default, {"Price": "prices:read"})


@pytest.mark.parametrize(
    ("wanted", "order"),
    [(None, "-name"), ("", "-name"), ("age", "-name"), ("-", "-name"), ("cost", "cost"), ("-cost", "-cost")],
)
def test_an_order_by_an_unknown_column_is_the_default_one(wanted: str | None, order: str) -> None:
    assert Sort.of(wanted, ["name", "cost"], "-name").text == order


def test_a_page_asks_for_the_filters_that_are_declared_by_their_names_in_the_query() -> None:
    asked = [("from", Filter("From", "date")), ("number", Filter("Number", "numeric", more=True))]
    assert list(filters_of(_Asked).items()) == asked
