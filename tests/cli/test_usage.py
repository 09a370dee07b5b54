"""Wrong usage, help, and settings."""

import json
from importlib.metadata import version
from pathlib import Path

import pytest

from support.command_line import SECRET, Forker, Program
from tradecounter.settings import PREFIX, Settings, describe
from tradecounter.sites.command_line import COMMANDS


@pytest.fixture(scope="module")
def tradecounter(tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    return Program(tmp_path_factory.mktemp("usage"), None, forker)


def test_the_help_names_every_command(tradecounter: Program) -> None:
    text = tradecounter.text("--help")
    assert all(f" {name} " in text for name in COMMANDS)


@pytest.mark.sweep(every=8)
@pytest.mark.parametrize("words", [[name] for name in COMMANDS] + [["customer", "add"], ["order", "list"]])
def test_every_command_explains_itself(words: list[str], tradecounter: Program) -> None:
    assert f"Usage: tradecounter {' '.join(words)} " in tradecounter.text(*words, "--help")


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["nosuch"], "No such command 'nosuch'"),
        (["customer", "nosuch"], "No such command 'nosuch'"),
        (["customer", "list", "--nosuch"], "No such option: --nosuch"),
        (["customer", "show", "x"], "is not a whole number such as 1200"),
        (["customer", "show", "0"], "is not in the range 1<=x<="),
        (["customer", "show", "9223372036854775808"], "is not in the range 1<=x<=9223372036854775807"),
        (["customer", "show"], "Missing argument"),
        (["customer", "add", "--email", "a@b.example"], "Missing option"),
        (["customer", "edit", "1", "--discount", "nan"], "'nan' is not a percentage"),
        (["customer", "edit", "1", "--credit-limit", "x"], "'x' is not an amount in pounds and pence"),
        (["customer", "edit", "1", "--no-credit", "--credit-limit", "1"], "--no-credit contradicts"),
        (["customer", "edit", "1", "--packing", "gift"], "'gift' is not one of"),
        (["customer", "edit", "1", "--shipping-method", "0"], "is not in the range 1<=x<="),
        (["key", "add", "-5"], "No such option: -5"),
        (["key", "disable", "9223372036854775808"], "is not in the range 1<=x<=9223372036854775807"),
        (["import", "nosuch", "file.csv"], "'nosuch' is not one of categories"),
        (["import", "stock"], "Missing argument"),
        (["serve", "--port", "65536"], "is not in the range 0<=x<=65535"),
        (["serve", "--workers", "0"], "is not in the range 1<=x<="),
        (["order", "list", "--limit", "0"], "is not in the range 1<=x<="),
    ],
)
def test_usage_errors_end_with_status_2(words: list[str], problem: str, tradecounter: Program) -> None:
    assert problem in tradecounter.misused(*words)
    assert not (tradecounter.folder / ".tradecounter").exists()


def test_a_value_that_a_request_cannot_have_is_rejected_without_a_database(tradecounter: Program) -> None:
    names = ["--first-name", "A", "--last-name", "B"]
    for words in (["customer", "add", "--email", "ab", *names], ["customer", "edit", "1", "--email", "a@b>"]):
        assert tradecounter.error(*words) == "--email: must be an e-mail address"


@pytest.mark.parametrize("command", ["order list", "invoice list", "payment list", "audit"])
def test_a_list_of_a_period_that_ends_before_it_starts_is_rejected(command: str, tradecounter: Program) -> None:
    period = ["--from", "2026-03-02", "--to", "2026-03-01"]
    assert tradecounter.error(*command.split(), *period) == "--from: must not be after --to"


def test_credit_needs_both_a_limit_and_a_term(tradecounter: Program) -> None:
    name = ["--email", "a@b.example", "--first-name", "A", "--last-name", "B"]
    assert "go together" in tradecounter.misused("customer", "add", *name, "--credit-limit", "100")
    assert "go together" in tradecounter.misused("customer", "add", *name, "--term-days", "30")


def test_the_version_is_printed(tradecounter: Program) -> None:
    assert tradecounter.text("--version") == f"tradecounter {version('tradecounter')}\n"


def test_arguments_that_are_not_utf_8_are_usage_errors(tradecounter: Program) -> None:
    assert "not UTF-8 text" in tradecounter.misused("order", "show", "\udcff")


def test_settings_are_listed_as_one_document(tradecounter: Program) -> None:
    assert tradecounter.json("settings") == describe(Settings())


def test_settings_are_listed_for_a_person_without_secrets(tradecounter: Program) -> None:
    given = {f"{PREFIX}SECRET_KEY": SECRET, f"{PREFIX}DATABASE_URL": "postgresql://u:hunter2@host/x"}
    text = tradecounter.text("settings", **given, TRADECOUNTER_LOW_STOCK="77")
    rows = {line.split()[0]: line for line in text.splitlines()}
    assert " 77 " in rows[f"{PREFIX}LOW_STOCK"]
    assert " (hidden) " in rows[f"{PREFIX}SECRET_KEY"]
    assert " (hidden) " in rows[f"{PREFIX}DATABASE_URL"]
    assert "hunter2" not in text
    assert SECRET not in text


def test_a_bad_setting_is_rejected_by_every_command_that_reads_it(tradecounter: Program) -> None:
    for words in (["settings"], ["customer", "list"], ["serve"], ["worker"], ["demo"], ["db", "check"]):
        reason = tradecounter.error(*words, TRADECOUNTER_VAT_RATE="lots")
        assert reason == "TRADECOUNTER_VAT_RATE: 'lots' is not a number"
    assert not (tradecounter.folder / ".tradecounter").exists()


def test_the_settings_file_applies_where_the_environment_sets_nothing(tmp_path: Path, tradecounter: Program) -> None:
    (tmp_path / ".env").write_text("TRADECOUNTER_LOW_STOCK=7\nTRADECOUNTER_VAT_RATE=19\n")
    here = Program(tmp_path, None, tradecounter.forker)
    values = {row["name"]: row["value"] for row in here.json("settings", TRADECOUNTER_VAT_RATE="21")}
    assert (values["TRADECOUNTER_LOW_STOCK"], values["TRADECOUNTER_VAT_RATE"]) == ("7", "21")


def test_every_command_warns_about_an_unknown_setting(tmp_path: Path, tradecounter: Program) -> None:
    (tmp_path / ".env").write_text("TRADECOUNTER_SELER_NAME=Shop Ltd\n")
    here = Program(tmp_path, None, tradecounter.forker)
    for words in (["settings"], ["customer", "list"], ["openapi"]):
        lines = here.run(*words, TRADECOUNTER_BASE_ULR="https://shop.example").err.splitlines()
        assert lines[:2] == [
            "warning: TRADECOUNTER_BASE_ULR is not a setting; did you mean TRADECOUNTER_BASE_URL?",
            "warning: TRADECOUNTER_SELER_NAME is not a setting; did you mean TRADECOUNTER_SELLER_NAME?",
        ]


def test_the_interface_document_is_printed(tradecounter: Program) -> None:
    document = json.loads(tradecounter.text("openapi", "--base-url", "https://shop.example"))
    assert document["servers"][0]["url"] == "https://shop.example"
    assert document == tradecounter.json("openapi", "--base-url", "https://shop.example")
