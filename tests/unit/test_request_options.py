"""A command's options from the struct of its request. The commands are called without a process."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
import typer
from msgspec import UNSET, Meta, Struct, UnsetType
from typer.testing import CliRunner

from tradecounter.edge.command_line.arguments import item_units
from tradecounter.edge.command_line.request_options import Option, takes_request
from tradecounter.kit.numbers import Percent, Pounds
from tradecounter.kit.wire import Moment


class Line(Struct):
    id: int
    quantity: Annotated[int, Meta(ge=1)]


class Request(Struct, kw_only=True):
    name: Annotated[str, Meta(max_length=5, description="The name.")]
    amount: Annotated[Pounds, Meta(description="Pounds.")] | UnsetType = UNSET
    discount: Annotated[Percent | None, Meta(description="Per cent.")] = None
    last_day: Annotated[date | None, Meta(description="The last day.")] = None
    begins_at: Annotated[Moment | None, Meta(description="When it begins.")] = None
    kinds: Annotated[list[Literal["new", "old"]], Meta(max_length=2, description="The kinds.")] = []
    packing: Annotated[Literal["own", "plain"], Meta(description="The packing.")] = "own"
    units: Annotated[int, Meta(ge=1, le=9, description="Units.")] = 1
    force: Annotated[bool, Meta(description="Although it looks wrong.")] = False
    active: Annotated[bool, Meta(description="Whether it is shown.")] | UnsetType = UNSET
    lines: Annotated[list[Line], Meta(description="The lines.")] | UnsetType = UNSET


def ran(*words: str, **said: Any) -> tuple[int, list[Request], str]:
    """The status of a command, the requests that it took, and what it printed."""
    taken: list[Request] = []

    @takes_request(**said)
    def command(request: Request) -> None:
        """Take it."""
        taken.append(request)

    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command()(command)
    done = CliRunner().invoke(app, list(words), catch_exceptions=False)
    return done.exit_code, taken, " ".join(done.output.split())


def test_fields_that_are_not_given_have_the_defaults_of_the_struct() -> None:
    assert ran("--name", "Ada") == (0, [Request(name="Ada")], "")


def test_each_type_of_field_is_read_as_at_the_other_doors() -> None:
    words = ["--name", "Ada", "--amount", "£1,234.50", "--discount", "12.5%", "--last-day", "2026-06-01"]
    words += ["--begins-at", "2026-06-01T09:30", "--kinds", "new", "--kinds", "old", "--packing", "plain"]
    status, [found], _ = ran(*words, "--units", "9", "--force", "--no-active")
    assert status == 0
    assert (found.amount, found.discount, found.last_day) == (Decimal("1234.50"), Decimal("12.5"), date(2026, 6, 1))
    assert found.begins_at == datetime(2026, 6, 1, 8, 30, tzinfo=UTC)
    assert (found.kinds, found.packing, found.units) == (["new", "old"], "plain", 9)
    assert (found.force, found.active) == (True, False)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--name", "Ada", "--amount", "12,50"], "'12,50' is not an amount"),
        (["--name", "Ada", "--last-day", "soon"], "'soon' is not a date"),
        (["--name", "Ada", "--kinds", "odd"], "'odd' is not one of: new, old"),
        (["--name", "Ada", "--packing", "gift"], "'gift' is not one of"),
        (["--name", "Ada", "--units", "10"], "is not in the range"),
        ([], "Missing option '--name'"),
    ],
)
def test_a_text_that_cannot_be_read_is_wrong_usage(words: list[str], problem: str) -> None:
    status, taken, printed = ran(*words)
    assert (status, taken) == (2, [])
    assert problem in printed


def test_what_the_struct_rejects_names_the_option() -> None:
    assert ran("--called", "Ada Byron", name=Option("--called")) == (
        1,
        [],
        "error: --called: must have at most 5 characters",
    )


def test_a_field_may_be_an_argument_with_its_own_default() -> None:
    assert ran("Ada", name=Option("NAME"))[1] == [Request(name="Ada")]
    assert ran(name=Option(default="Jo"))[1] == [Request(name="Jo")]


def test_words_for_a_field_that_there_is_not_are_a_mistake() -> None:
    with pytest.raises(TypeError, match="Request has no field surname"):
        ran("--name", "Ada", surname=Option("--surname"))


@pytest.fixture
def lines() -> Option:
    return Option("--line", metavar="ID=UNITS", read=item_units)


def test_an_element_that_is_a_struct_is_read_into_its_fields(lines: Option) -> None:
    assert ran("--name", "Ada", "--line", "17=3", "--line", "18=1", lines=lines)[1] == [
        Request(name="Ada", lines=[Line(17, 3), Line(18, 1)])
    ]
    status, taken, printed = ran("--name", "Ada", "--line", "17", lines=lines)
    assert (status, taken) == (2, [])
    assert "Invalid value for '--line': '17' is not ITEM_ID=QUANTITY" in printed


def test_an_element_that_the_struct_rejects_is_named_as_it_was_typed(lines: Option) -> None:
    said = ran("--name", "Ada", "--line", "17=3", "--line", "18=0", lines=lines)
    assert said == (1, [], "error: --line 18=0: must be at least 1")
