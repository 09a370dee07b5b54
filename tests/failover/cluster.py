"""A PostgreSQL that survives its machines: three with etcd, Patroni and PostgreSQL, of which one is the primary."""

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import yaml

from failover.namespaces import Machine
from failover.services import Service
from tradecounter.db.embedded_programs import COPIES, Programs, programs, server_account

DATABASE = ROLE = "tradecounter"
PATRONI_PORT = 8008
SCOPE = "tradecounter"

# What the operators' guide recommends. Patroni accepts no shorter `ttl`.
DCS = {
    "ttl": 20,
    "loop_wait": 2,
    "retry_timeout": 5,
    "primary_start_timeout": 5,
    "synchronous_mode": "quorum",
    "synchronous_mode_strict": True,
    "synchronous_node_count": 1,
}
PARAMETERS = {
    "max_connections": 200,
    "wal_log_hints": "on",
    "wal_keep_size": "1GB",
    "wal_sender_timeout": "5s",
    "wal_receiver_timeout": "5s",
    "wal_receiver_status_interval": "1s",
    "wal_retrieve_retry_interval": "500ms",
    "tcp_keepalives_idle": 5,
    "tcp_keepalives_interval": 1,
    "tcp_keepalives_count": 5,
    "tcp_user_timeout": "10s",
    "shared_buffers": "64MB",
}


@dataclass
class DataMachine:
    """A machine with etcd and Patroni, which runs PostgreSQL."""

    machine: Machine
    etcd: Service
    patroni: Service
    data: Path

    @property
    def name(self) -> str:
        return self.machine.name

    @property
    def services(self) -> tuple[Service, Service]:
        return self.etcd, self.patroni

    @property
    def postmaster(self) -> int | None:
        """The running PostgreSQL's process id."""
        with suppress(OSError, ValueError):
            pid = int((self.data / "postmaster.pid").read_text().split("\n", 1)[0])
            if pid in self.machine.pids():
                return pid
        return None

    def postgres_pids(self) -> list[int]:
        """The processes of PostgreSQL on this machine."""
        found = []
        for pid in self.machine.pids():
            with suppress(OSError):
                if Path(f"/proc/{pid}/stat").read_text().partition("(")[2].startswith("postgres)"):
                    found.append(pid)
        return found

    def signal_postgres(self, number: int) -> None:
        """Send a signal to all processes of PostgreSQL."""
        for pid in self.postgres_pids():
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def power_off(self) -> None:
        """End everything on the machine at once."""
        for service in self.services:
            service.wanted = False
        self.machine.kill_all()

    def power_on(self) -> None:
        """Start everything again."""
        for service in self.services:
            service.wanted = True
            service.ensure_running()


class Cluster:
    """The data machines and what they say about themselves."""

    def __init__(self, machines: Sequence[Machine], folder: Path) -> None:
        self._http = httpx2.Client(timeout=2)
        members = ",".join(f"{m.name}=http://{m.address}:2380" for m in machines)
        self.machines = [_data_machine(machine, machines, members, folder) for machine in machines]

    @property
    def services(self) -> list[Service]:
        return [service for machine in self.machines for service in machine.services]

    @property
    def url(self) -> str:
        """The URL of whichever machine is the primary; libpq finds it."""
        hosts = ",".join(f"{machine.machine.address}:5432" for machine in self.machines)
        return f"postgresql://{ROLE}@{hosts}/{DATABASE}?target_session_attrs=read-write"

    def state(self, machine: DataMachine) -> dict[str, Any]:
        """What a machine's Patroni says about the cluster; empty if it does not respond."""
        with suppress(httpx2.HTTPError, ValueError):
            response = self._http.get(f"http://{machine.machine.address}:{PATRONI_PORT}/cluster")
            found: dict[str, Any] = response.json()
            return found
        return {}

    def primary(self) -> DataMachine | None:
        """The machine that takes writes: its own Patroni says so."""
        for machine in self.machines:
            with suppress(httpx2.HTTPError):
                address = f"http://{machine.machine.address}:{PATRONI_PORT}/primary"
                if self._http.get(address).status_code == 200:
                    return machine
        return None

    def replicas(self) -> list[DataMachine]:
        """The other machines; all of them while there is no primary."""
        primary = self.primary()
        return [machine for machine in self.machines if machine is not primary]

    def healthy(self) -> bool:
        """Whether there is a primary, and both others stream from it and may confirm commits."""
        primary = self.primary()
        if primary is None:
            return False
        members = self.state(primary).get("members", [])
        found = [member for member in members if member.get("role") == "quorum_standby"]
        return len(found) == len(self.machines) - 1 and all(member.get("state") == "streaming" for member in found)

    def switch_over(self) -> None:
        """Ask Patroni to move the primary to a replica of its choice."""
        primary = self.primary()
        if primary is not None:
            address = f"http://{primary.machine.address}:{PATRONI_PORT}/switchover"
            with suppress(httpx2.HTTPError):
                self._http.post(address, json={"leader": primary.name}, timeout=30)

    def create_database(self) -> None:
        """Create the service's role and database on the primary."""
        primary = self.primary()
        assert primary is not None
        url = f"postgresql://postgres@{primary.machine.address}/postgres"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"create role {ROLE} login".encode())
            connection.execute(f"create database {DATABASE} owner {ROLE}".encode())

    def close(self) -> None:
        self._http.close()


def wait_until(condition: Callable[[], object], seconds: float, what: str) -> None:
    """Wait for the cluster. Raises TimeoutError."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} not within {seconds:.0f} s")
        time.sleep(0.2)


def _data_machine(machine: Machine, machines: Sequence[Machine], members: str, folder: Path) -> DataMachine:
    own = folder / machine.name
    own.mkdir()
    shutil.chown(own, "nobody", "nogroup")
    (own / "patroni.yml").write_text(yaml.safe_dump(_patroni(machine, machines, own)))
    environment = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8", "HOME": str(own)}
    address = machine.address
    etcd = [
        "etcd", "--name", machine.name, "--data-dir", str(own / "etcd"), "--initial-cluster", members,
        "--initial-advertise-peer-urls", f"http://{address}:2380", "--listen-peer-urls", f"http://{address}:2380",
        "--advertise-client-urls", f"http://{address}:2379", "--listen-client-urls", f"http://{address}:2379",
        "--logger", "zap", "--log-level", "warn",
    ]  # fmt: skip
    patroni = [str(Path(sys.executable).with_name("patroni")), str(own / "patroni.yml")]
    return DataMachine(
        machine,
        Service("etcd", machine, etcd, folder, environment, as_nobody=True),
        Service("patroni", machine, patroni, folder, environment, as_nobody=True),
        own / "data",
    )


def _patroni(machine: Machine, machines: Sequence[Machine], own: Path) -> dict[str, Any]:
    postgres = Programs(programs(), server_account(), COPIES).folder
    return {
        "scope": SCOPE,
        "name": machine.name,
        "restapi": {
            "listen": f"{machine.address}:{PATRONI_PORT}",
            "connect_address": f"{machine.address}:{PATRONI_PORT}",
        },
        "etcd3": {"hosts": [f"{each.address}:2379" for each in machines]},
        "bootstrap": {
            "dcs": {**DCS, "postgresql": {"use_pg_rewind": True, "parameters": PARAMETERS}},
            "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, "data-checksums"],
        },
        "postgresql": {
            "listen": f"{machine.address}:5432",
            "connect_address": f"{machine.address}:5432",
            "data_dir": str(own / "data"),
            "bin_dir": str(postgres),
            "pgpass": str(own / "pgpass"),
            "authentication": {
                "superuser": {"username": "postgres"},
                "replication": {"username": "replicator"},
                "rewind": {"username": "rewinder"},
            },
            "parameters": {"unix_socket_directories": str(own)},
            "pg_hba": [  # nobody but these machines is on the network
                "local all all trust",
                "host all all 0.0.0.0/0 trust",
                "host replication replicator 0.0.0.0/0 trust",
            ],
        },
    }


PAUSE, CONTINUE = signal.SIGSTOP, signal.SIGCONT
