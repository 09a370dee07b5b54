"""`tradecounter init`: the file of settings, its secret key, and what becomes of an old one."""

import re
import resource
import stat
import subprocess
import sys
from dataclasses import fields
from functools import partial
from pathlib import Path

import pytest

from support.command_line import Forker, Program
from tradecounter.settings import PREFIX, Settings, describe, read_settings, values_in

SECRET = f"{PREFIX}SECRET_KEY"
FORMER = f"{PREFIX}FORMER_SECRET_KEYS"


@pytest.fixture
def here(tmp_path: Path, forker: Forker) -> Program:
    return Program(tmp_path, None, forker)


def test_the_file_has_every_setting_and_only_its_owner_can_read_it(here: Program) -> None:
    file = here.folder / ".env"
    assert here.json("init") == {"path": str(file), "saved": None}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    values = values_in(file)
    assert values.keys() == {SECRET}
    assert re.fullmatch("[0-9a-f]{64}", values[SECRET])
    named = re.findall(rf"^(?:# )?({PREFIX}\w+)=", file.read_text(), re.MULTILINE)
    assert sorted(named) == sorted(PREFIX + setting.name.upper() for setting in fields(Settings))
    assert read_settings(values) == Settings(secret_key=values[SECRET])


def test_each_line_is_valid_when_uncommented(here: Program) -> None:
    here.json("init")
    file = here.folder / ".env"
    file.write_text(re.sub(rf"^# ({PREFIX}\w+=)", r"\1", file.read_text(), flags=re.MULTILINE))
    settings = read_settings(values_in(file))
    assert settings.smtp_url == "smtp://user:password@mail.example.com:587"
    assert settings.mail_from == "Orders <orders@example.com>"
    defaults, found = ({row["name"]: row["value"] for row in describe(s)} for s in (Settings(), settings))
    assert found[f"{PREFIX}SELLER_ADDRESS"] == defaults[f"{PREFIX}SELLER_ADDRESS"]
    assert found[f"{PREFIX}QUOTE_LIFETIME"] == defaults[f"{PREFIX}QUOTE_LIFETIME"] == "7d"


def test_the_addresses_of_both_sites_are_among_what_a_service_needs(here: Program) -> None:
    here.json("init")
    needed = (here.folder / ".env").read_text().split("---- Optional")[0]
    assert f"# {PREFIX}BASE_URL=https://api.example.com\n" in needed
    assert f"# {PREFIX}BACKOFFICE_URL=https://backoffice.example.com\n" in needed


def test_two_files_have_different_secrets(here: Program, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = Program(tmp_path_factory.mktemp("other"), None, here.forker)
    for program in (here, other):
        program.json("init")
    assert values_in(here.folder / ".env")[SECRET] != values_in(other.folder / ".env")[SECRET]


def test_an_existing_file_is_kept(here: Program) -> None:
    (here.folder / ".env").write_text("TRADECOUNTER_LOW_STOCK=7\n")
    reason = here.error("init", "--json")
    assert reason == ".env exists: edit it, or replace it with --force, which renames it to .env.old"
    assert (here.folder / ".env").read_text() == "TRADECOUNTER_LOW_STOCK=7\n"


def test_a_file_is_replaced_by_force_and_its_secrets_still_decrypt(here: Program) -> None:
    file, old = here.folder / ".env", here.folder / ".env.old"
    here.json("init")
    first = values_in(file)[SECRET]
    assert here.json("init", "--force") == {"path": str(file), "saved": str(old)}
    assert values_in(old)[SECRET] == first
    assert values_in(file)[FORMER] == first
    second = values_in(file)[SECRET]
    here.json("init", "--force")
    assert values_in(file)[FORMER] == f"{second},{first}"
    assert len({first, second, values_in(file)[SECRET]}) == 3
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_secret_of_an_existing_embedded_database_becomes_a_former_secret(here: Program) -> None:
    kept = here.folder / ".tradecounter" / "secret.key"
    kept.parent.mkdir()
    kept.write_text("k" * 64)
    here.json("init")
    assert values_in(here.folder / ".env")[FORMER] == "k" * 64


def test_a_broken_file_is_replaced_by_force(here: Program) -> None:
    (here.folder / ".env").write_bytes(b"TRADECOUNTER_LOW_STOCK=\xff\n")
    assert here.run("init", "--force").status == 0
    assert (here.folder / ".env.old").read_bytes() == b"TRADECOUNTER_LOW_STOCK=\xff\n"
    assert values_in(here.folder / ".env").keys() == {SECRET}


def test_a_folder_that_cannot_be_written_is_rejected(here: Program) -> None:
    (here.folder / ".env").mkdir()
    (here.folder / ".env.old").mkdir()
    (here.folder / ".env.old" / "file").touch()
    assert here.error("init", "--force") == ".env cannot be written: Directory not empty"


@pytest.mark.sweep
def test_a_disk_without_room_keeps_the_file(here: Program) -> None:
    here.json("init")
    file = here.folder / ".env"
    before = file.read_bytes()
    no_room = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (0, 0))
    command = [sys.executable, "-m", "tradecounter", "init", "--force"]
    done = subprocess.run(command, cwd=here.folder, preexec_fn=no_room, capture_output=True, text=True, check=False)
    assert (done.returncode, ".env cannot be written: File too large" in done.stderr) == (1, True)
    assert file.read_bytes() == before
