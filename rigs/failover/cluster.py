"""A PostgreSQL that survives its machines: three with etcd, Patroni and PostgreSQL, of which one is the primary."""

import os
import secrets
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

from rigs.failover import shipped
from rigs.failover.namespaces import Machine
from rigs.failover.services import Service
from tradecounter.db.embedded_programs import COPIES, Programs, programs, server_account

DATABASE = ROLE = "tradecounter"
PASSWORD = secrets.token_hex(16)
PATRONI_PORT = 8008


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
        self.machines = [_data_machine(machine, machines, folder) for machine in machines]
        self._secrets = shipped.environment("patroni.env", machines, machines[0])

    @property
    def services(self) -> list[Service]:
        return [service for machine in self.machines for service in machine.services]

    @property
    def url(self) -> str:
        """The URL of whichever machine is the primary; libpq finds it."""
        hosts = ",".join(f"{machine.machine.address}:5432" for machine in self.machines)
        return f"postgresql://{ROLE}:{PASSWORD}@{hosts}/{DATABASE}?target_session_attrs=read-write"

    def url_of(self, machine: DataMachine) -> str:
        """The URL of one machine's PostgreSQL."""
        return f"postgresql://{ROLE}:{PASSWORD}@{machine.machine.address}/{DATABASE}"

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
            with suppress(httpx2.HTTPError):
                self._tell(primary, "switchover", {"leader": primary.name})

    def reinitialise(self, machine: DataMachine) -> bool:
        """Ask Patroni to clone a replica again, as `patronictl reinit` does; whether it has begun."""
        with suppress(httpx2.HTTPError):
            return self._tell(machine, "reinitialize", {"force": True}).status_code == 200
        return False

    def _tell(self, machine: DataMachine, path: str, body: dict[str, Any]) -> httpx2.Response:
        operator = (self._secrets["PATRONI_RESTAPI_USERNAME"], self._secrets["PATRONI_RESTAPI_PASSWORD"])
        address = f"http://{machine.machine.address}:{PATRONI_PORT}/{path}"
        response = self._http.post(address, json=body, auth=operator, timeout=30)
        assert response.status_code not in {401, 403}, response.text
        return response

    def create_database(self) -> None:
        """Create the service's role and database on the primary."""
        primary = self.primary()
        assert primary is not None
        self.query(primary, f"create role {ROLE} login password '{PASSWORD}'")
        self.query(primary, f"create database {DATABASE} owner {ROLE}")

    def query(self, machine: DataMachine, statement: str, database: str = "postgres") -> list[Any]:
        """Run a statement as the superuser on one machine."""
        user, password = (self._secrets[f"PATRONI_SUPERUSER_{what}"] for what in ("USERNAME", "PASSWORD"))
        url = f"postgresql://{user}:{password}@{machine.machine.address}/{database}"
        with psycopg.connect(url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        self._http.close()


def server_programs() -> Path:
    """The folder of PostgreSQL's programs, which `nobody` may run."""
    return Programs(programs(), server_account(), COPIES).folder


def wait_until(condition: Callable[[], object], seconds: float, what: str) -> None:
    """Wait for the cluster. Raises TimeoutError."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} not within {seconds:.0f} s")
        time.sleep(0.2)


def _data_machine(machine: Machine, machines: Sequence[Machine], folder: Path) -> DataMachine:
    own = folder / machine.name
    own.mkdir()
    shutil.chown(own, "nobody", "nogroup")
    (own / "patroni.yaml").write_text(_patroni(machines, own))
    common = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8", "HOME": str(own)}
    etcd = {**common, **shipped.environment("etcd.env", machines, machine), "ETCD_DATA_DIR": str(own / "etcd")}
    patroni = {**common, **shipped.environment("patroni.env", machines, machine)}
    program = str(Path(sys.executable).with_name("patroni"))
    return DataMachine(
        machine,
        Service("etcd", machine, ["etcd"], folder, etcd, as_nobody=True),
        Service("patroni", machine, [program, str(own / "patroni.yaml")], folder, patroni, as_nobody=True),
        own / "data",
    )


def _patroni(machines: Sequence[Machine], own: Path) -> str:
    """Return the file of `deploy/cluster`, for a PostgreSQL that is elsewhere on this machine and small."""
    settings = yaml.safe_load(shipped.text("patroni.yaml", machines))
    settings["bootstrap"]["dcs"]["postgresql"]["parameters"]["shared_buffers"] = "64MB"
    peer = [line.replace(" peer", " peer map=house") for line in settings["postgresql"]["pg_hba"]]
    settings["postgresql"] |= {
        "data_dir": str(own / "data"),
        "bin_dir": str(server_programs()),
        "pgpass": str(own / "pgpass"),
        "parameters": {"unix_socket_directories": str(own)},
        "pg_hba": peer,
        "pg_ident": ["house nobody postgres"],  # Debian's account `postgres` is `nobody` here
    }
    return str(yaml.safe_dump(settings))


PAUSE, CONTINUE = signal.SIGSTOP, signal.SIGCONT
