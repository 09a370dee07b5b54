"""The programs on their machines: two public nodes behind HAProxy, a worker, a back office, and HAProxy beside them."""

import sys
from collections.abc import Sequence
from pathlib import Path

from rigs.failover import shipped
from rigs.failover.cluster import DATABASE, PASSWORD, ROLE, Cluster
from rigs.failover.namespaces import Machine
from rigs.failover.services import Service
from rigs.kill.trial import SETTINGS
from support.command_line import SECRET

FRONT = "front"  # HAProxy before the public nodes
PORTS = {"serve": 8000, "backoffice": 8001, FRONT: 80}
_PROGRAMS = (("serve", "worker"), ("serve", "backoffice"))  # by machine


def programs_on(apps: Sequence[Machine], front: Machine, cluster: Cluster, folder: Path) -> list[Service]:
    """Return the programs, which nothing has started yet."""
    machines = [*(each.machine for each in cluster.machines), *apps]
    found = [_haproxy(FRONT, front, "public.cfg", machines, folder)]
    for machine, names in zip(apps, _PROGRAMS, strict=True):
        own = folder / machine.name
        own.mkdir()
        environment = {
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": str(own),
            "TRADECOUNTER_DATABASE_URL": f"postgresql://{ROLE}:{PASSWORD}@127.0.0.1:5432/{DATABASE}"
            "?target_session_attrs=read-write",
            "TRADECOUNTER_SECRET_KEY": SECRET,
            "TRADECOUNTER_COMMIT_TIMEOUT": "3",  # less than these clients' patience
            "TRADECOUNTER_TRUSTED_PROXIES": front.address,
            "TRADECOUNTER_DATA_DIR": str(own / "data"),
            **{f"TRADECOUNTER_{name.upper()}": value for name, value in SETTINGS.items()},
        }
        found.append(_haproxy("haproxy", machine, "primary.cfg", machines, folder))
        found += [
            Service(name, machine, _command(name, machine), folder, environment, port=PORTS.get(name, 0))
            for name in names
        ]
    return found


def addresses(programs: Sequence[Service], *names: str) -> list[str]:
    """The addresses of programs with these names, which are sites."""
    found = [each for name in names for each in programs if each.name == name]
    return [f"http://{each.machine.address}:{each.port}" for each in found]


def mail_folder(programs: Sequence[Service]) -> Path:
    """Where the worker writes mails."""
    [worker] = [each for each in programs if each.name == "worker"]
    return Path(worker.environment["TRADECOUNTER_DATA_DIR"]) / "mail"


def _command(name: str, machine: Machine) -> list[str]:
    where = ["--host", machine.address, "--port", str(PORTS[name])] if name in PORTS else []
    return [sys.executable, "-m", "tradecounter", name, *where]


def _haproxy(name: str, machine: Machine, file: str, machines: Sequence[Machine], folder: Path) -> Service:
    configuration = folder / f"{machine.name}-{file}"
    configuration.write_text(shipped.text(file, machines))
    environment = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}
    command = ["haproxy", "-db", "-f", str(configuration)]
    return Service(name, machine, command, folder, environment, port=PORTS.get(name, 0))
