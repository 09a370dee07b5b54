"""The files of deploy/ name commands and settings that exist."""

import re
import shlex
import tomllib
from dataclasses import fields
from pathlib import Path

import yaml

from support.command_line import Forker, Program
from tradecounter.settings import PREFIX, Settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "helm" / "tradecounter"
_SETTING = re.compile(rf"{PREFIX}([A-Z][A-Z_]*)")


def test_every_command_exists_with_its_options(forker: Forker, tmp_path: Path) -> None:
    program = Program(tmp_path, None, forker)
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    own = [service for service in compose["services"].values() if service["image"] == "tradecounter"]
    commands = [service["command"] for service in own]
    files = [*(DEPLOY / "systemd").glob("*.service"), *(DEPLOY / "cluster").glob("*network.conf")]
    units = "\n".join(unit.read_text() for unit in files)
    commands += [
        shlex.split(line.replace("%i", "8000"))
        for line in re.findall(r"^ExecStart=/opt/tradecounter/bin/tradecounter (.*)$", units, re.MULTILINE)
    ]
    templates = "\n".join(each.read_text() for each in (CHART / "templates").glob("*.yaml"))
    commands += [re.sub(r"\{\{.*?\}\}", "1", line).split(", ") for line in re.findall(r"args: \[(.*)\]", templates)]
    assert len(commands) == 15
    for command in commands:
        done = program.run(*command, "--help")
        assert done.status == 0, (command, done.err)


def test_every_setting_exists() -> None:
    known = {field.name.upper() for field in fields(Settings)}
    for file in DEPLOY.rglob("*"):
        if file.is_file():
            assert set(_SETTING.findall(file.read_text())) <= known, file
    assert set(yaml.safe_load((CHART / "values.yaml").read_text())["settings"]) <= known


def test_only_the_program_gets_the_key_in_compose() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"].values()
    got = {service["image"]: service.get("env_file") for service in services}
    assert got.pop("tradecounter") == "secrets.env"
    assert "secrets.env" not in got.values()


def test_the_chart_has_the_version_of_the_package() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert (chart["version"], chart["appVersion"]) == (version, version)


def test_restarting_the_migration_restarts_no_other_unit() -> None:
    """Requires=, BindsTo= and PartOf= pass a restart on."""
    for unit in (DEPLOY / "systemd").glob("*.service"):
        passed_on = re.findall(r"^(?:Requires|BindsTo|PartOf|Requisite)=.*tradecounter", unit.read_text(), re.MULTILINE)
        assert passed_on == [], unit
