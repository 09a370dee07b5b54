"""The units of deploy/systemd and the configuration of HAProxy, judged by systemd's and HAProxy's own programs."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support.certificates import make_certificate

DEPLOY = Path(__file__).parents[2] / "deploy"
BACKUP = "postgresql-backup"
PROCESSES = ("serve@8000", "backoffice", "worker", "migrate")
MOST_EXPOSED = "20"  # of 100, in systemd's own figures: the lower, the less a broken process can do


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The units with a program that exists, since systemd looks for it."""
    folder = shutil.copytree(DEPLOY / "systemd", tmp_path / "units")
    for unit in folder.glob("*.service"):
        unit.write_text(unit.read_text().replace("/opt/tradecounter/bin/tradecounter", "/bin/true"))
    return folder


def analyse(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SYSTEMD_UNIT_PATH": f"{folder}:"}
    return subprocess.run(["systemd-analyze", *arguments], env=environment, text=True, capture_output=True, check=False)


@pytest.mark.parametrize("process", PROCESSES)
def test_systemd_accepts_each_unit_with_the_common_settings(installed: Path, process: str) -> None:
    done = analyse(installed, "verify", "--man=no", str(installed / f"tradecounter-{process}.service"))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("process", PROCESSES)
def test_a_process_may_do_little_beside_its_work(installed: Path, process: str) -> None:
    template, _, instance = process.partition("@")
    unit = installed / f"tradecounter-{template}{'@' if instance else ''}.service"
    common = installed / "tradecounter-.service.d" / "common.conf"
    whole = installed / f"whole-{template}.service"
    whole.write_text(unit.read_text() + common.read_text())
    done = analyse(installed, "security", "--offline=true", f"--threshold={MOST_EXPOSED}", "--no-pager", str(whole))
    assert done.returncode == 0, done.stdout


def test_systemd_accepts_the_nightly_backup(tmp_path: Path) -> None:
    folder = shutil.copytree(DEPLOY / "backup", tmp_path / "units")
    unit = folder / f"{BACKUP}.service"
    unit.write_text(unit.read_text().replace("/usr/local/lib/tradecounter/back-up", "/bin/true"))
    done = analyse(folder, "verify", "--man=no", str(unit), str(folder / f"{BACKUP}.timer"))
    assert (done.returncode, done.stderr) == (0, "")
    done = analyse(folder, "security", "--offline=true", f"--threshold={MOST_EXPOSED}", "--no-pager", str(unit))
    assert done.returncode == 0, done.stdout


def test_systemd_accepts_patronis_unit(tmp_path: Path) -> None:
    text = (DEPLOY / "cluster" / "patroni.service").read_text()
    unit = tmp_path / "patroni.service"
    unit.write_text(text.replace("/opt/patroni/bin/patroni", "/bin/true").replace("=postgres\n", "=root\n"))
    done = analyse(tmp_path, "verify", "--man=no", str(unit))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("unit", "name"),
    [("serve@", "network"), ("worker", "worker-network"), ("backoffice", "backoffice-network")],
)
def test_systemd_accepts_processes_that_listen_for_another_machine(installed: Path, unit: str, name: str) -> None:
    own = installed / f"tradecounter-{unit}.service.d"
    own.mkdir()
    text = (DEPLOY / "cluster" / f"{name}.conf").read_text()
    (own / "network.conf").write_text(text.replace("/opt/tradecounter/bin/tradecounter", "/bin/true"))
    instance = unit.replace("@", "@8000")
    done = analyse(installed, "verify", "--man=no", str(installed / f"tradecounter-{instance}.service"))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["haproxy.cfg", "haproxy-systemd.cfg", "cluster/primary.cfg", "cluster/public.cfg"])
def test_haproxy_accepts_its_configuration(tmp_path: Path, name: str) -> None:
    file, certificate = tmp_path / "haproxy.cfg", make_certificate(tmp_path)
    text = re.sub(r"\w+\.internal:", "127.0.0.1:", (DEPLOY / name).read_text())  # HAProxy looks names up
    file.write_text(re.sub(r"/etc/haproxy/\w+\.pem", str(certificate), text))
    done = subprocess.run(["haproxy", "-c", "-f", str(file)], text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
