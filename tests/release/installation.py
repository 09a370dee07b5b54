"""Installs the release in dist/ as docs/deployment.md says: `make release` runs this."""

import json
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
_COMMANDS = re.compile(r"^## A release\n.*?^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the release, as it would lie on the machine that installs it."""
    return shutil.copytree(DIST, tmp_path / "release")


def documented(program: Path) -> str:
    [commands] = _COMMANDS.findall((ROOT / "docs" / "deployment.md").read_text())
    assert "/opt/tradecounter" in commands
    return str(commands).replace("/opt/tradecounter", str(program))


def shell(commands: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run(
        ["sh", "-e"], input=commands, cwd=folder, env=environment, text=True, capture_output=True, check=False
    )


def test_the_documented_commands_install_what_was_released(copy: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    done = shell(documented(program), copy)
    assert done.returncode == 0, done.stderr
    [wheel] = copy.glob("*.whl")
    assert f"tradecounter {wheel.name.split('-')[1]}" in done.stdout
    # The files of the pages, the mails and the migrations are in it, and it runs outside the source tree.
    schema = shell(f"{program}/bin/tradecounter openapi", tmp_path)
    assert json.loads(schema.stdout)["info"]["title"]
    checked = shell(f"{program}/bin/pip check", tmp_path)
    assert checked.returncode == 0, checked.stdout


def test_the_release_installs_with_traces(copy: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    done = shell(documented(program).replace("requirements.txt", "requirements-tracing.txt"), copy)
    assert done.returncode == 0, done.stderr
    assert shell(f"{program}/bin/python -c 'import opentelemetry.sdk, tradecounter'", tmp_path).returncode == 0


def test_the_documented_commands_install_patroni_with_its_hashes(copy: Path, tmp_path: Path) -> None:
    lines = (ROOT / "docs" / "deployment.md").read_text().splitlines()
    commands = [line for line in lines if line.endswith((" /opt/patroni", "requirements-patroni.txt"))]
    assert len(commands) == 2
    done = shell("\n".join(commands).replace("/opt/patroni", str(tmp_path / "patroni")), copy)
    assert done.returncode == 0, done.stderr
    shown = shell(f"{tmp_path}/patroni/bin/patroni --version && {tmp_path}/patroni/bin/pip check", tmp_path)
    assert shown.stdout.startswith("patroni 4."), shown.stderr
    # It finds its two libraries of choice, etcd's protocol and psycopg.
    assert shell(f"{tmp_path}/patroni/bin/python -c 'import patroni.dcs.etcd3, psycopg'", tmp_path).returncode == 0


def test_a_changed_package_is_not_installed(copy: Path, tmp_path: Path) -> None:
    [wheel] = copy.glob("*.whl")
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("tradecounter/planted.py", "")
    commands = documented(tmp_path / "program")
    assert "FAILED" in shell(commands, copy).stdout
    unchecked = commands.replace("sha256sum --check SHA256SUMS\n", "")
    done = shell(unchecked, copy)
    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr


def test_the_wheel_has_every_file_of_the_package_that_is_not_bytecode() -> None:
    [wheel] = DIST.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("tradecounter/") and name[-1] != "/"}
    source = ROOT / "src"
    present = {str(f.relative_to(source)) for f in source.rglob("*") if f.is_file() and "__pycache__" not in f.parts}
    assert packed == present


def test_the_bill_of_materials_names_every_required_package() -> None:
    required = set(re.findall(r"^([\w.-]+)==", (DIST / "requirements-embedded.txt").read_text(), re.MULTILINE))
    bill = json.loads((DIST / "sbom.cdx.json").read_text())
    listed = {component["name"] for component in bill["components"]} | {bill["metadata"]["component"]["name"]}
    assert bill["bomFormat"] == "CycloneDX"
    assert required <= listed


def test_building_again_gives_the_same_wheel(tmp_path: Path) -> None:
    uv = shutil.which("uv") or str(ROOT / ".uv" / "bin" / "uv")
    subprocess.run([uv, "build", "--quiet", "--wheel", "--out-dir", str(tmp_path)], cwd=ROOT, check=True)
    [first], [second] = DIST.glob("*.whl"), tmp_path.glob("*.whl")
    assert first.read_bytes() == second.read_bytes()
