"""The machine and the programs: what the benchmarks need, what is installed, and what the results state."""

import os
import platform
import shutil
import subprocess
import timeit
from importlib.metadata import version
from pathlib import Path

from bench.kit.processes import OTHER_CORE, TESTED_CORE, BenchError, processor_seconds
from tradecounter.db.embedded_programs import programs

PACKAGES = {"wrk": "wrk", "nginx": "nginx-light", "taskset": "util-linux", "nice": "coreutils"}

_INSTALL_SECONDS = 180
_LIBRARIES = ("uvicorn", "granian", "starlette", "msgspec", "psycopg", "asyncpg", "numpy", "zstandard")
_SYSTEM_FOLDERS = "/usr/sbin:/sbin"


def require_programs() -> None:
    """Install missing Debian packages, as root. Raises BenchError, naming them, where that is not possible."""
    os.environ["PATH"] = f"{os.environ.get('PATH', '/usr/bin:/bin')}:{_SYSTEM_FOLDERS}"
    missing = [package for program, package in PACKAGES.items() if shutil.which(program) is None]
    if missing and os.geteuid() == 0 and shutil.which("apt-get"):
        for command in (["apt-get", "update", "-q"], ["apt-get", "install", "-q", "-y", *missing]):
            subprocess.run(
                command, check=False, capture_output=True, timeout=_INSTALL_SECONDS,
                env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
            )  # fmt: skip
        missing = [package for program, package in PACKAGES.items() if shutil.which(program) is None]
    if missing:
        raise BenchError(f"the benchmarks need the Debian packages {', '.join(missing)}: install them and start again")
    if not (programs() / "pgbench").exists():
        raise BenchError("the embedded PostgreSQL came without pgbench")


class Quietness:
    """How much of the two cores programs used that have nothing to do with the benchmarks."""

    def __init__(self, postgres_pid: int) -> None:
        self._postgres_pid = postgres_pid
        self._busy, self._total, self._own = *_core_seconds(), self._own_seconds()

    def others(self) -> float:
        """Return their share since the beginning, from 0 to 1."""
        busy, total = _core_seconds()
        used = busy - self._busy - (self._own_seconds() - self._own)
        return max(0.0, used / (total - self._total))

    def _own_seconds(self) -> float:
        return sum(os.times()[:4]) + processor_seconds(self._postgres_pid)


def _core_seconds() -> tuple[float, float]:
    """Return the seconds that the two cores were busy, what a hypervisor took included, and all seconds."""
    wanted = {f"cpu{TESTED_CORE}", f"cpu{OTHER_CORE}"}
    lines = [line.split() for line in Path("/proc/stat").read_text().splitlines()]
    ticks = [list(map(int, fields[1:9])) for fields in lines if fields and fields[0] in wanted]
    total = sum(map(sum, ticks))
    idle = sum(core[3] + core[4] for core in ticks)
    return (total - idle) / os.sysconf("SC_CLK_TCK"), total / os.sysconf("SC_CLK_TCK")


def described() -> str:
    """Return the machine in a line."""
    model = _first_of("/proc/cpuinfo", "model name") or platform.machine()
    memory = int((_first_of("/proc/meminfo", "MemTotal") or "0").split()[0]) / 1024**2
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB, Linux {platform.release()}"


def loop_seconds() -> float:
    """Return the seconds that a loop of 3,000,000 additions takes Python now, the least of five: the speed of a core.

    Virtual machines of one kind differ in it by half and more, and so do their processor times.
    """
    return min(timeit.repeat("for number in range(3_000_000): total += number", "total = 0", repeat=5, number=1))


def versions() -> list[str]:
    """Return the versions of what takes part."""
    found = [f"Python {platform.python_version()}"]
    found += [_line([str(programs() / "postgres"), "--version"])]
    found += [_line(["nginx", "-v"]).removeprefix("nginx version: ").replace("/", " "), _line(["wrk", "-v"])]
    for name in _LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except ModuleNotFoundError:
            continue
    return [line for line in found if line]


def revision() -> str:
    """Return the commit that is measured, or nothing outside a repository."""
    return _line(["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"])


def _line(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except OSError:
        return ""
    lines = (done.stdout or done.stderr).strip().splitlines()
    return " ".join(lines[0].split()[:3]) if lines else ""


def _first_of(path: str, name: str) -> str | None:
    for line in Path(path).read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return None
