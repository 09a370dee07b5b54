"""`make drill-cluster`: `make drill` on three machines with Patroni, by the steps of the operators' guide.

With an odd seed, all machines lose their power and their data. With an even one, they are stopped as the guide says.
"""

import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rigs.drill.run import MEMORY, faults_of, wanted_by
from rigs.failover import shipped
from rigs.failover.cluster import DATABASE, Cluster, DataMachine, server_programs, wait_until
from rigs.failover.namespaces import MachineError, machines
from rigs.failover.services import AS_NOBODY, Service, supervised
from rigs.told import say, told
from support.backups import archive, wait_for_archive
from support.processes import kill_server

PATIENCE_SECONDS = 120
SCOPE = "tradecounter"


@dataclass
class BackedUpCluster:
    """A cluster whose machines archive their WAL in one folder."""

    cluster: Cluster
    folder: Path
    power_failure: bool
    backed_up: DataMachine | None = None

    @property
    def url(self) -> str:
        return self.cluster.url

    def archive(self) -> None:
        """Turn archiving on; PostgreSQL restarts on all machines."""
        command = f"{self.folder}/scripts/archive-wal {self.folder} %p %f"
        chosen = ("archive_mode=on", f"archive_command={command}", "archive_timeout=1s")
        self.patronictl("edit-config", "--force", *(word for each in chosen for word in ("--pg", each)))
        wait_until(self._restart_is_pending, PATIENCE_SECONDS, "the new settings on all machines")
        self.patronictl("restart", SCOPE, "--pending", "--force")
        self._wait_until_healthy()
        assert self.query("show archive_mode") == [("on",)]

    def back_up(self) -> Path:
        """Make a base backup, as the timers of all machines do, and then move the primary; the backup's folder."""
        script, folder = str(self.folder / "scripts" / "back-up"), str(self.folder)
        printed = {each.name: self._as_postgres(each, script, folder).strip() for each in self.cluster.machines}
        [(name, made)] = [(name, line) for name, line in printed.items() if line.startswith(folder)]
        [self.backed_up] = [each for each in self.cluster.machines if each.name == name]
        self.patronictl("switchover", SCOPE, "--force")
        wait_until(lambda: self.cluster.primary() not in (None, self.backed_up), PATIENCE_SECONDS, "another primary")
        self.patronictl("edit-config", "--force", "--pg", "work_mem=5MB")  # the base backup does not have it
        self._wait_until_healthy()
        return Path(made)

    def wait_for_archive(self) -> None:
        wait_for_archive(self.folder, self.query)

    def destroy(self) -> None:
        """End the cluster; afterwards there is no data directory where it was."""
        if self.power_failure:
            self._lose_power()
        else:
            self._stop()

    def _stop(self) -> None:
        """Stop the replicas and then the primary; keep the data of the machine that is restored beside it."""
        primary = self.cluster.primary()
        assert primary is not None
        assert primary is not self.backed_up
        for machine in (*self.cluster.replicas(), primary):
            machine.patroni.kill(signal.SIGTERM)
            assert _is_down(machine)
            if machine is not primary:
                assert self.cluster.primary() is primary
        for machine in self.cluster.machines:
            if machine is self.backed_up:
                machine.data.rename(machine.data.with_name("data.bad"))
            else:
                shutil.rmtree(machine.data)

    def _lose_power(self) -> None:
        for machine in self.cluster.machines:
            machine.patroni.kill()
        for machine in self.cluster.machines:
            postmaster = machine.postmaster
            assert postmaster is not None
            kill_server(postmaster)
            wait_until(partial(_is_down, machine), PATIENCE_SECONDS, "the end of PostgreSQL")
            shutil.rmtree(machine.data)

    def restore(self, moment: str) -> None:
        """Restore one machine, and have the others copy it; return when they do."""
        # A backup has the paths of its files in it. Here they differ from machine to machine.
        first = self.backed_up
        assert first is not None
        script = str(self.folder / "scripts" / "restore")
        self._as_postgres(first, script, str(self.folder), moment, str(first.data))
        log = str(first.data.parent / "restore.log")
        self._as_postgres(first, "pg_ctl", "start", "-D", str(first.data), "-l", log)
        wait_until(lambda: self._takes_writes(first), PATIENCE_SECONDS, "the end of the recovery")
        for name in ("time", "timeline", "action"):
            self.cluster.query(first, f"alter system reset recovery_target_{name}")
        self._as_postgres(first, "pg_ctl", "stop", "-D", str(first.data))
        # A Patroni that was killed cannot say so: while its lease lasts, `remove` asks for the leader's name, too.
        wait_until(lambda: '"Leader"' not in self.patronictl("list", "--format", "json"), PATIENCE_SECONDS, "no leader")
        settings = self.patronictl("show-config")
        self.patronictl("remove", SCOPE, given=f"{SCOPE}\nYes I am aware\n")
        start(first.patroni)
        wait_until(lambda: self.cluster.primary() is first, PATIENCE_SECONDS, "the restored machine as the primary")
        assert self.patronictl("show-config") != settings
        self.patronictl("edit-config", "--replace", "-", "--force", given=settings)
        for machine in self.cluster.replicas():
            start(machine.patroni)
        self._wait_until_healthy()

    def query(self, statement: str) -> list[Any]:
        primary = self.cluster.primary()
        assert primary is not None
        return self.cluster.query(primary, statement, DATABASE)

    def patronictl(self, *words: str, given: str = "") -> str:
        """Run Patroni's command on the first machine; what it prints."""
        machine = self.cluster.machines[0]
        variables = shipped.environment(
            "patroni.env", [each.machine for each in self.cluster.machines], machine.machine
        )
        variables["PATRONICTL_CONFIG_FILE"] = str(machine.data.parent / "patroni.yaml")
        return run(machine, [str(Path(sys.executable).with_name("patronictl")), *words], variables, given)

    def _as_postgres(self, machine: DataMachine, *command: str) -> str:
        variables = {"PGHOST": str(machine.data.parent), "PGUSER": "postgres"}
        return run(machine, [*AS_NOBODY, *command], variables)

    def _restart_is_pending(self) -> bool:
        members = self.cluster.state(self.cluster.machines[0]).get("members", [])
        return bool(members) and all(member.get("pending_restart") for member in members)

    def _takes_writes(self, machine: DataMachine) -> bool:
        return self.cluster.query(machine, "select pg_is_in_recovery()") == [(False,)]

    def _wait_until_healthy(self) -> None:
        wait_until(self.cluster.healthy, PATIENCE_SECONDS, "a primary with two replicas")


def run(machine: DataMachine, command: Sequence[str], variables: dict[str, str], given: str = "") -> str:
    """Run a command on a machine; what it prints. It has to succeed."""
    path = f"{server_programs()}:/usr/bin:/bin:/usr/sbin:/sbin"
    done = subprocess.run(
        ["ip", "netns", "exec", machine.machine.namespace, *command],
        env={"PATH": path, "LC_ALL": "C.UTF-8", "HOME": str(machine.data.parent), **variables},
        cwd=machine.data.parent,
        input=given,
        text=True,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done
    return done.stdout


def _is_down(machine: DataMachine) -> bool:
    return not machine.postgres_pids()


def start(service: Service) -> None:
    service.wanted = True
    service.ensure_running()


def main(arguments: Sequence[str]) -> int:
    wanted = wanted_by("make drill-cluster", arguments)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=MEMORY, prefix="tcfo-")))
        folder.chmod(0o755)
        try:
            found = stack.enter_context(machines(["db1", "db2", "db3"]))
        except MachineError as error:
            say(f"NOT RUN: {error}")
            return 1
        cluster = Cluster(found, folder)
        stack.callback(cluster.close)
        stack.enter_context(supervised(cluster.services))
        wait_until(cluster.healthy, PATIENCE_SECONDS, "a primary with two replicas")
        cluster.create_database()
        backups = BackedUpCluster(cluster, stack.enter_context(archive(MEMORY)), power_failure=wanted.seed % 2 == 1)
        backups.archive()
        end = "lose their power" if backups.power_failure else "be stopped"
        say(f"three machines archive their WAL; later they will {end}")
        faults = faults_of(backups, folder, wanted)
        if (shown := backups.query("show work_mem")) != [("5MB",)]:
            faults.append(f"the cluster's settings are not those from before the restore: {shown}")
    return told(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
