"""The kinds of faults: what each does, and how it ends. A fault that has ended leaves nothing broken."""

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from rigs.failover.cluster import CONTINUE, PAUSE, Cluster, DataMachine
from rigs.failover.programs import FRONT
from rigs.failover.services import Service

SLOW = "400kbit"
START_SECONDS = 40


@dataclass(frozen=True)
class Fault:
    """A kind of fault: `begin` breaks something and returns what mends it; `seconds` is how long it lasts."""

    name: str
    begin: Callable[["Site", Random], Callable[[], None]]
    seconds: tuple[float, float]
    weight: float = 1  # how often it comes, beside others


@dataclass
class Site:
    """What can be broken: the data machines, and the programs on the others."""

    cluster: Cluster
    programs: list[Service]
    ended: threading.Event = field(default_factory=threading.Event)  # nothing more is broken, all is mended

    def primary(self, chance: Random) -> DataMachine:
        """The primary, or any machine while there is none."""
        return self.cluster.primary() or chance.choice(self.cluster.machines)

    def replica(self, chance: Random) -> DataMachine:
        return chance.choice(self.cluster.replicas())

    def program(self, name: str, chance: Random) -> Service:
        return chance.choice([program for program in self.programs if program.name == name])


Who = Callable[[Site, Random], DataMachine]


def _power(who: Who) -> Callable[[Site, Random], Callable[[], None]]:
    def begin(site: Site, chance: Random) -> Callable[[], None]:
        machine = who(site, chance)
        machine.power_off()
        return machine.power_on

    return begin


def _pause(who: Who) -> Callable[[Site, Random], Callable[[], None]]:
    def begin(site: Site, chance: Random) -> Callable[[], None]:
        machine = who(site, chance).machine
        machine.signal_all(PAUSE)
        return lambda: machine.signal_all(CONTINUE)

    return begin


def _cut(who: Who, *directions: str) -> Callable[[Site, Random], Callable[[], None]]:
    def begin(site: Site, chance: Random) -> Callable[[], None]:
        machine = who(site, chance).machine
        machine.cut(*directions)
        return machine.mend

    return begin


def _unplug(site: Site, chance: Random) -> Callable[[], None]:
    machine = site.primary(chance).machine
    machine.unplug()
    return machine.mend


def _slow(who: Who) -> Callable[[Site, Random], Callable[[], None]]:
    def begin(site: Site, chance: Random) -> Callable[[], None]:
        machine = who(site, chance).machine
        machine.slow(SLOW)
        return machine.mend

    return begin


def _part_from_a_replica(site: Site, chance: Random) -> Callable[[], None]:
    primary, replica = site.primary(chance), site.replica(chance)
    primary.machine.cut("in", "out", peer=replica.machine.address)
    return primary.machine.mend


def _kill_postgres(site: Site, chance: Random) -> Callable[[], None]:
    site.primary(chance).signal_postgres(signal.SIGKILL)
    return _nothing


def _pause_postgres(site: Site, chance: Random) -> Callable[[], None]:
    machine = site.primary(chance)
    machine.signal_postgres(PAUSE)
    return lambda: machine.signal_postgres(CONTINUE)


def _stall_replicas(site: Site, _chance: Random) -> Callable[[], None]:
    """Pause PostgreSQL on both replicas: commits wait, and nobody may acknowledge them."""
    replicas = site.cluster.replicas()[:2]
    for machine in replicas:
        machine.signal_postgres(PAUSE)

    def end() -> None:
        for machine in replicas:
            machine.signal_postgres(CONTINUE)

    return end


def _kill(pick: Callable[[Site, Random], Service]) -> Callable[[Site, Random], Callable[[], None]]:
    def begin(site: Site, chance: Random) -> Callable[[], None]:
        service = pick(site, chance)
        service.kill()

        def end() -> None:
            service.wanted = True
            service.ensure_running()
            until = time.monotonic() + START_SECONDS
            while not service.is_up and time.monotonic() < until:  # another kill would find nothing
                if site.ended.wait(0.2):
                    break

        return end

    return begin


def _pause_program(name: str) -> Callable[[Site, Random], Callable[[], None]]:
    def begin(site: Site, chance: Random) -> Callable[[], None]:
        pid = site.program(name, chance).pid
        with suppress(ProcessLookupError):
            os.kill(pid, PAUSE)

        def end() -> None:
            with suppress(ProcessLookupError):
                os.kill(pid, CONTINUE)

        return end

    return begin


def _cut_program(site: Site, chance: Random) -> Callable[[], None]:
    machine = chance.choice(site.programs).machine
    machine.cut("in", "out")
    return machine.mend


def _switch_over(site: Site, _chance: Random) -> Callable[[], None]:
    site.cluster.switch_over()
    return _nothing


def _nothing() -> None:
    """Nothing is left to mend: the cluster does it."""


def _primary(site: Site, chance: Random) -> DataMachine:
    return site.primary(chance)


def _replica(site: Site, chance: Random) -> DataMachine:
    return site.replica(chance)


# One after another: each harms one machine with data, and the other two go on.
DATA = (
    Fault("switch-over", _switch_over, (0, 1)),
    Fault("primary: PostgreSQL killed", _kill_postgres, (0, 1)),
    Fault("primary: PostgreSQL paused", _pause_postgres, (2, 8)),
    Fault("primary: Patroni killed", _kill(lambda site, chance: site.primary(chance).patroni), (0.5, 3)),
    Fault("primary: machine killed", _power(_primary), (3, 6)),
    # Longer than Patroni's lease, so that another machine takes over before this one is back.
    Fault("primary: machine lost", _power(_primary), (40, 40), weight=0.2),
    Fault("primary: machine paused", _pause(_primary), (3, 25)),
    Fault("primary: cut off", _cut(_primary, "in", "out"), (3, 25)),
    Fault("primary: hears nothing", _cut(_primary, "in"), (3, 25)),
    Fault("primary: is not heard", _cut(_primary, "out"), (3, 25)),
    Fault("primary: cable pulled", _unplug, (3, 25)),
    Fault("primary: slow link", _slow(_primary), (3, 6)),
    Fault("primary: parted from a replica", _part_from_a_replica, (3, 10)),
    Fault("replica: machine killed", _power(_replica), (1, 4)),
    Fault("replica: machine paused", _pause(_replica), (2, 10)),
    Fault("replica: cut off", _cut(_replica, "in", "out"), (2, 10)),
    Fault("replica: slow link", _slow(_replica), (3, 6)),
    Fault("replicas: both stalled", _stall_replicas, (3, 8)),
    # Longer than any commit may wait, so that the connections of abandoned commits add up.
    Fault("replicas: both stalled for long", _stall_replicas, (45, 60), weight=0.1),
    Fault("etcd member killed", _kill(lambda site, chance: chance.choice(site.cluster.machines).etcd), (1, 5)),
)
# At any time, beside those.
PROGRAMS = (
    Fault("public node killed", _kill(lambda site, chance: site.program("serve", chance)), (0, 1), weight=0.6),
    Fault("public node paused", _pause_program("serve"), (0.5, 3)),
    # There is one, which takes seconds to start: killed as often as the others, it would hardly ever run.
    Fault("back office killed", _kill(lambda site, chance: site.program("backoffice", chance)), (0, 1), weight=0.3),
    Fault("worker killed", _kill(lambda site, chance: site.program("worker", chance)), (0, 1)),
    Fault("worker paused", _pause_program("worker"), (0.5, 3)),
    Fault("HAProxy killed", _kill(lambda site, chance: site.program("haproxy", chance)), (0, 1)),
    Fault("front HAProxy killed", _kill(lambda site, chance: site.program(FRONT, chance)), (0, 1)),
    Fault("machine of programs cut off", _cut_program, (0.5, 3)),
)


def inflict(fault: Fault, site: Site, chance: Random) -> tuple[float, float]:
    """Break and mend; when the fault began and ended, in monotonic seconds."""
    began = time.monotonic()
    end = fault.begin(site, chance)
    try:
        site.ended.wait(chance.uniform(*fault.seconds))
    finally:
        end()
    return began, time.monotonic()
