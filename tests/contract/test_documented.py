"""Every setting, command and import kind is in the operators' guide."""

import re
from dataclasses import fields

import msgspec
import pytest

from support.command_line import all_commands
from support.guide import operators_guide
from tradecounter.imports.kinds import IMPORT_KINDS
from tradecounter.settings import PREFIX, Settings

GUIDE = operators_guide()


COMMANDS = [f"tradecounter {command}" for command in all_commands()]


@pytest.mark.parametrize("setting", [PREFIX + field.name.upper() for field in fields(Settings)])
def test_every_setting_is_documented(setting: str) -> None:
    assert f"| `{setting}` |" in GUIDE


def test_no_setting_is_documented_that_does_not_exist() -> None:
    documented = set(re.findall(rf"`({PREFIX}\w+)`", GUIDE))
    assert documented == {PREFIX + field.name.upper() for field in fields(Settings)}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_documented(command: str) -> None:
    assert f"| `{command}` |" in GUIDE


def test_no_command_is_documented_that_does_not_exist() -> None:
    assert set(re.findall(r"\| `(tradecounter [a-z -]+)` \|", GUIDE)) == set(COMMANDS)


@pytest.mark.parametrize("kind", IMPORT_KINDS)
def test_every_import_field_is_documented(kind: str) -> None:
    [row] = [line for line in GUIDE.splitlines() if line.startswith(f"| `{kind}` |")]
    costs = {"single_unit_cost", "five_plus_unit_cost", "ten_plus_unit_cost"}
    names = {field.encode_name for field in msgspec.structs.fields(IMPORT_KINDS[kind].shape)}
    ignored = {"manufacturer_name"}
    needed = names - ignored - (costs if "the three costs" in row else set())
    assert needed <= set(re.findall(r"`(\w+)`", row))
