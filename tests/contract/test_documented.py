"""Every setting, command and import kind is in the operators' guide."""

import importlib
import re
from dataclasses import fields
from pathlib import Path

import msgspec
import pytest
import typer

from tradecounter.cli.main import COMMANDS
from tradecounter.imports.kinds import IMPORT_KINDS
from tradecounter.settings import PREFIX, Settings

GUIDE = (Path(__file__).parents[2] / "docs" / "guide-operators.md").read_text()


def commands() -> list[str]:
    found = []
    for name, place in COMMANDS.items():
        module, _, attribute = place.partition(":")
        command = getattr(importlib.import_module(module), attribute)
        nested = command.registered_commands if isinstance(command, typer.Typer) else []
        found += [f"tradecounter {name} {c.name}" for c in nested] or [f"tradecounter {name}"]
    return found


@pytest.mark.parametrize("setting", [PREFIX + field.name.upper() for field in fields(Settings)])
def test_every_setting_is_documented(setting: str) -> None:
    assert f"| `{setting}` |" in GUIDE


def test_no_setting_is_documented_that_does_not_exist() -> None:
    documented = set(re.findall(rf"`({PREFIX}\w+)`", GUIDE))
    assert documented == {PREFIX + field.name.upper() for field in fields(Settings)}


@pytest.mark.parametrize("command", commands())
def test_every_command_is_documented(command: str) -> None:
    assert f"| `{command}` |" in GUIDE


def test_no_command_is_documented_that_does_not_exist() -> None:
    assert set(re.findall(r"\| `(tradecounter [a-z -]+)` \|", GUIDE)) == set(commands())


@pytest.mark.parametrize("kind", IMPORT_KINDS)
def test_every_import_field_is_documented(kind: str) -> None:
    [row] = [line for line in GUIDE.splitlines() if line.startswith(f"| `{kind}` |")]
    costs = {"single_unit_cost", "five_plus_unit_cost", "ten_plus_unit_cost"}
    names = {field.encode_name for field in msgspec.structs.fields(IMPORT_KINDS[kind].shape)}
    ignored = {"manufacturer_name"}
    needed = names - ignored - (costs if "the three costs" in row else set())
    assert needed <= set(re.findall(r"`(\w+)`", row))
