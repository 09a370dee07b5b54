"""Machines of their own on this one: network namespaces on a bridge, whose links can be cut, slowed and unplugged.

Needs root, iproute2 and nftables. A link is slowed by the kernel's token bucket (`tbf`), since small kernels lack
`netem`; under load, the queue before it delays packets by up to `QUEUE`.
"""

import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

PREFIX = "tcfo"  # of all namespaces and devices, so that the next run finds what a killed one left
NETWORK = "10.231.7"
HOST = f"{NETWORK}.1"  # this process, on the bridge
QUEUE = "400ms"
_LOCK = Path(f"/run/{PREFIX}.lock")
_BRIDGE = f"{PREFIX}-br"
_DIRECTIONS = {"in": ("input", "iifname", "saddr"), "out": ("output", "oifname", "daddr")}


class MachineError(RuntimeError):
    """The machine lacks or forbids something; the message says what."""


@dataclass
class Machine:
    """A namespace with one link, `eth0`, to the bridge."""

    name: str
    address: str

    @property
    def namespace(self) -> str:
        return f"{PREFIX}-{self.name}"

    def start(self, command: Sequence[str], log: IO[bytes], environment: dict[str, str]) -> subprocess.Popen[bytes]:
        """Start a program on the machine, beyond the reach of this terminal's Ctrl-C."""
        return subprocess.Popen(
            ["ip", "netns", "exec", self.namespace, *command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            start_new_session=True,
        )

    def pids(self) -> list[int]:
        """The machine's processes."""
        return [int(pid) for pid in _run("ip", "netns", "pids", self.namespace).split()]

    def signal_all(self, number: int) -> None:
        """Send a signal to all processes of the machine."""
        for pid in self.pids():
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill_all(self) -> None:
        """End all processes as a power failure does, and wait until none is left."""
        deadline = time.monotonic() + 10
        while self.pids():
            self.signal_all(signal.SIGKILL)
            if time.monotonic() > deadline:
                raise MachineError(f"processes of {self.name} do not end: {self.pids()}")
            time.sleep(0.05)

    def cut(self, *directions: str, peer: str | None = None) -> None:
        """Drop what arrives (`in`) and what leaves (`out`), of one peer's address or of all."""
        lines = ["table inet cut {"]
        for direction in directions:
            hook, device, address = _DIRECTIONS[direction]
            whom = f"ip {address} {peer} " if peer else ""
            lines.append(f"chain {direction} {{ type filter hook {hook} priority 0; {device} eth0 {whom}drop; }}")
        self._nft("\n".join([*lines, "}"]))

    def slow(self, rate: str) -> None:
        """Let no more than a rate such as `256kbit` leave or arrive."""
        shape = ["root", "tbf", "rate", rate, "burst", "5kb", "latency", QUEUE]
        _run("tc", "-n", self.namespace, "qdisc", "replace", "dev", "eth0", *shape)
        _run("tc", "qdisc", "replace", "dev", self.namespace, *shape)

    def unplug(self) -> None:
        """Take the cable out: the machine sees that its link is down."""
        _run("ip", "link", "set", self.namespace, "down")

    def mend(self) -> None:
        """Undo all cuts, slow links and pulled cables."""
        self._nft("table inet cut\ndelete table inet cut")
        for place in (["-n", self.namespace], []):
            device = "eth0" if place else self.namespace
            _try("tc", *place, "qdisc", "delete", "dev", device, "root")
        _run("ip", "link", "set", self.namespace, "up")

    def _nft(self, text: str) -> None:
        _run("ip", "netns", "exec", self.namespace, "nft", "-f", "-", given=text)


@contextmanager
def machines(names: Sequence[str]) -> Iterator[list[Machine]]:
    """Machines with these names while the block runs; nothing of them is left afterwards. Raises MachineError."""
    with ExitStack() as stack:
        stack.enter_context(_alone())
        clean_up()
        stack.callback(clean_up)
        _run("ip", "link", "add", _BRIDGE, "type", "bridge")
        _run("ip", "address", "add", f"{HOST}/24", "dev", _BRIDGE)
        _run("ip", "link", "set", _BRIDGE, "up")
        found = [Machine(name, f"{NETWORK}.{11 + number}") for number, name in enumerate(names)]
        for machine in found:
            _connect(machine)
        yield found


@contextmanager
def _alone() -> Iterator[None]:
    """Keep out another run, which would remove these machines. Raises MachineError."""
    with _LOCK.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise MachineError("another run has its machines here") from error
        yield


def _connect(machine: Machine) -> None:
    name = machine.namespace
    _run("ip", "netns", "add", name)
    _run("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
    _run("ip", "link", "set", name, "master", _BRIDGE)
    _run("ip", "link", "set", name, "up")
    _run("ip", "-n", name, "address", "add", f"{machine.address}/24", "dev", "eth0")
    for device in ("eth0", "lo"):
        _run("ip", "-n", name, "link", "set", device, "up")


def clean_up() -> None:
    """Remove the machines with all their processes, also those of a run that was killed."""
    for line in _run("ip", "netns", "list").splitlines():
        name = line.split()[0]
        if name.startswith(f"{PREFIX}-"):
            Machine(name.removeprefix(f"{PREFIX}-"), "").kill_all()
            _run("ip", "netns", "delete", name)
            _try("ip", "link", "delete", name)  # the kernel takes its time to end a namespace
    _try("ip", "link", "delete", _BRIDGE)


def _try(*command: str) -> None:
    with suppress(MachineError):
        _run(*command)


def _run(*command: str, given: str = "") -> str:
    try:
        # In a session of its own: this terminal's Ctrl-C must not end what mends and cleans up.
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=False, start_new_session=True)
    except FileNotFoundError as error:
        raise MachineError(f"{command[0]} is not installed") from error
    if done.returncode:
        raise MachineError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout
