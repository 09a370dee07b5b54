"""Commands read numbers as all other doors do. Their own parsers are called, without a process for each text."""

from decimal import Decimal
from typing import Any

import pytest
from typer import BadParameter
from typer._click.exceptions import UsageError
from typer.main import get_command

from support.typed_numbers import (
    AMOUNTS,
    PERCENTAGES,
    SIGNED_COUNTS,
    UNSIGNED_COUNTS,
    Outcome,
    Typed,
    expected,
)
from tradecounter.edge.command_line.arguments import item_units, named_number
from tradecounter.kit.numbers import read_count, read_pounds
from tradecounter.sites.command_line import app


def parsed(text: str, name: str, *words: str) -> Outcome:
    """What a command reads in a text, which stands for {} among its words."""
    noun, verb, *options = [word.replace("{}", text) for word in words]
    group: Any = get_command(app)
    command = group.get_command(None, noun).commands[verb]
    try:
        found = command.make_context(verb, options).params[name]
    except UsageError as error:
        return error.message
    return Decimal(found)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    ("table", "name", "words"),
    [
        (AMOUNTS, "amount", ("payment", "add", "--invoice=1", "--", "{}")),
        (AMOUNTS, "amount", ("order", "pay", "--", "TC-1", "{}")),
        (AMOUNTS, "amount", ("credit-note", "add", "--reason=r", "--amount={}", "1")),
        (AMOUNTS, "credit_limit", ("customer", "edit", "1", "--credit-limit={}")),
        (PERCENTAGES, "discount", ("customer", "edit", "1", "--discount={}")),
        (PERCENTAGES, "discount", ("quote", "price", "CODE", "--discount={}")),
        (SIGNED_COUNTS, "change", ("stock", "adjust", "SKU", "--reason=r", "--change={}")),
        (UNSIGNED_COUNTS, "set", ("stock", "adjust", "SKU", "--reason=r", "--set={}")),
        (UNSIGNED_COUNTS, "customer_id", ("customer", "show", "--", "{}")),
    ],
)
def test_commands_read_numbers(table: list[Typed], name: str, words: tuple[str, ...]) -> None:
    assert [parsed(typed.text, name, *words) for typed in table] == [expected(typed) for typed in table]


def test_options_with_names_read_amounts() -> None:
    def read(text: str) -> Outcome:
        try:
            return named_number(f"CABLE={text}", "SKU=UNIT_COST", read_pounds)[1]
        except BadParameter as error:
            return error.message.removeprefix(f"{f'CABLE={text}'!r}: ")

    assert [read(typed.text) for typed in AMOUNTS] == [expected(typed) for typed in AMOUNTS]


def test_options_with_names_read_counts() -> None:
    def read(text: str) -> Outcome:
        try:
            return Decimal(named_number(f"CABLE={text}", "SKU=QUANTITY", read_count)[1])
        except BadParameter as error:
            return error.message.removeprefix(f"{f'CABLE={text}'!r}: ")

    assert [read(typed.text) for typed in UNSIGNED_COUNTS] == [expected(typed) for typed in UNSIGNED_COUNTS]


def test_options_with_items_read_counts() -> None:
    def read(text: str) -> Outcome:
        try:
            return Decimal(item_units(f"17={text}")["quantity"])
        except BadParameter as error:
            return error.message.removeprefix(f"{f'17={text}'!r}: ")

    assert [read(typed.text) for typed in UNSIGNED_COUNTS] == [expected(typed) for typed in UNSIGNED_COUNTS]


@pytest.mark.parametrize("name", ["9" * 19, "9" * 5_000, "1_0", "\uff11", "+1", " 1", "1,000", "x"])
def test_ids_before_the_equals_sign_are_digits(name: str) -> None:
    for words in (
        ("order", "cancel", "TC-1", "--reason=r", f"--item={name}=1"),
        ("order", "return", "TC-1", "--reason=r", "--item=1=1", f"--serial={name}:A1"),
        ("order", "amend", "TC-1", f"--price={name}=1"),
        ("quote", "price", "CODE", f"--shipping={name}=1"),
        ("return", "receive", "RMA-1", f"--restock={name}=1"),
    ):
        group: Any = get_command(app)
        with pytest.raises(UsageError, match=r"is not (ITEM_)?ID"):
            group.main(list(words), standalone_mode=False)
