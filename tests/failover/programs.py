"""The programs on their machines: HAProxy, which finds the primary, two public nodes, a worker and a back office."""

import sys
from collections.abc import Sequence
from pathlib import Path

from failover.cluster import DATABASE, PATRONI_PORT, ROLE, Cluster
from failover.namespaces import Machine
from failover.services import Service
from support.command_line import SECRET
from support.kill_trial import SETTINGS

PORTS = {"serve": 8000, "backoffice": 8001}
_PROGRAMS = (("serve", "worker"), ("serve", "backoffice"))  # by machine
_HAPROXY = """
global
    log stdout format raw local0
defaults
    log global
    mode tcp
    timeout connect 2s
    timeout client 30m
    timeout server 30m
    timeout check 1s
listen primary
    bind 127.0.0.1:5432
    option httpchk
    http-check send meth OPTIONS uri /primary
    http-check expect status 200
    default-server check port {port} inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
{servers}
"""


def programs_on(machines: Sequence[Machine], cluster: Cluster, folder: Path) -> list[Service]:
    """Return the programs, which nothing has started yet."""
    found = []
    for machine, names in zip(machines, _PROGRAMS, strict=True):
        own = folder / machine.name
        own.mkdir()
        environment = {
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": str(own),
            "TRADECOUNTER_DATABASE_URL": f"postgresql://{ROLE}@127.0.0.1:5432/{DATABASE}?target_session_attrs=read-write",
            "TRADECOUNTER_SECRET_KEY": SECRET,
            "TRADECOUNTER_COMMIT_TIMEOUT": "3",  # less than these clients' patience
            "TRADECOUNTER_DATA_DIR": str(own / "data"),
            **{f"TRADECOUNTER_{name.upper()}": value for name, value in SETTINGS.items()},
        }
        found.append(_haproxy(machine, cluster, own, folder))
        found += [
            Service(name, machine, _command(name, machine), folder, environment, port=PORTS.get(name, 0))
            for name in names
        ]
    return found


def addresses(programs: Sequence[Service], name: str) -> list[str]:
    """The addresses of a program's sites."""
    return [f"http://{each.machine.address}:{PORTS[name]}" for each in programs if each.name == name]


def _command(name: str, machine: Machine) -> list[str]:
    where = ["--host", machine.address, "--port", str(PORTS[name])] if name in PORTS else []
    return [sys.executable, "-m", "tradecounter", name, *where]


def _haproxy(machine: Machine, cluster: Cluster, own: Path, folder: Path) -> Service:
    servers = "\n".join(f"    server {each.name} {each.machine.address}:5432" for each in cluster.machines)
    configuration = own / "haproxy.cfg"
    configuration.write_text(_HAPROXY.format(port=PATRONI_PORT, servers=servers))
    environment = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}
    return Service("haproxy", machine, ["haproxy", "-db", "-f", str(configuration)], folder, environment)
