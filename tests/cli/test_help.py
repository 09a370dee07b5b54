"""Help and suggestions: nothing is cut off at 80 columns, and misspelled words get a suggestion."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command

from support.command_line import Forker, Program
from tradecounter.sites.command_line import COMMANDS, app


@pytest.fixture(scope="module")
def tradecounter(tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    return Program(tmp_path_factory.mktemp("help"), None, forker)


def every_command() -> Iterator[tuple[tuple[str, ...], Any]]:
    program: Any = get_command(app)
    yield (), program
    for name in COMMANDS:
        command = program.get_command(None, name)
        yield (name,), command
        yield from (((name, inner), found) for inner, found in getattr(command, "commands", {}).items())


COMMANDS_WITH_WORDS = list(every_command())


@pytest.mark.sweep(every=9)
@pytest.mark.parametrize(
    ("words", "command"), COMMANDS_WITH_WORDS, ids=[" ".join(words) or "-" for words, _ in COMMANDS_WITH_WORDS]
)
def test_help_shows_whole_names_and_descriptions_at_80_columns(
    words: tuple[str, ...], command: Any, tradecounter: Program
) -> None:
    text = tradecounter.text(*words, "--help", COLUMNS="80")
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "..." not in text.replace("COMMAND [ARGS]...", "")
    in_one_line = " ".join(text.split())
    for parameter in command.params:
        names = [*parameter.opts, *parameter.secondary_opts] if parameter.param_type_name == "option" else []
        assert all(re.search(rf"{name}[ ,]", in_one_line) for name in names)
        assert all(name == name.lower() for name in names)
    assert not re.search(r"--\S+ <\w+>", in_one_line), "a value is called by its Python type"
    for name, inner in getattr(command, "commands", {}).items():
        found = inner or command.get_command(None, name)
        assert f"{name} {' '.join(found.help.split())}" in in_one_line


@pytest.mark.parametrize("words", [[], ["order"], ["order", "list"]])
def test_the_option_h_prints_help(words: list[str], tradecounter: Program) -> None:
    assert tradecounter.text(*words, "-h") == tradecounter.text(*words, "--help")


@pytest.mark.parametrize(
    ("words", "suggestion"),
    [
        (["ordr"], "No such command 'ordr'. Did you mean 'order'"),
        (["order", "lst"], "No such command 'lst'. Did you mean 'list'?"),
        (["order", "list", "--statsu", "pending"], "No such option: --statsu. Did you mean '--status'"),
        (["serve", "--prot", "1"], "No such option: --prot. Did you mean '--port'"),
    ],
)
def test_a_misspelled_word_gets_a_suggestion(words: list[str], suggestion: str, tradecounter: Program) -> None:
    assert suggestion in tradecounter.misused(*words)


@pytest.mark.parametrize(
    ("typed", "completions"),
    [
        ("tradecounter or", ["order"]),
        ("tradecounter order di", ["dispatch"]),
        ("tradecounter order list --cu", ["--customer", "--customer-reference"]),
        ("tradecounter customer edit 1 --packing p", ["plain"]),
        ("tradecounter --ver", ["--version"]),
    ],
)
def test_a_shell_completes_words(typed: str, completions: list[str], tradecounter: Program) -> None:
    last = str(len(typed.split()) - 1)
    done = tradecounter.run(COMP_WORDS=typed, COMP_CWORD=last, _TRADECOUNTER_COMPLETE="complete_bash")
    assert (done.status, done.out.split(), done.err) == (0, completions, "")


def test_completion_is_shown_for_the_shell_that_is_named(tradecounter: Program) -> None:
    done = tradecounter.run(_TRADECOUNTER_COMPLETE="source_bash")
    assert "complete -o default -F _tradecounter_completion tradecounter" in done.out
