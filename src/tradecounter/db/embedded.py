"""The embedded PostgreSQL: started in the data directory when needed, shared, stopped by its last user.

Every process that uses the server holds a shared lock on `users.lock`; the operating system drops it even after
kill -9. A process that leaves and can take that lock exclusively was the last one and stops the server. `start.lock`
lets only one process start or stop it at a time. The server listens on a socket in its own private folder only.
"""

import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self
from urllib.parse import quote

import psycopg
from psycopg.pq import PGconn, Ping

from tradecounter.db.embedded_programs import COPIES, EmbeddedError, Programs, programs, server_account
from tradecounter.db.embedded_role import ADMINISTRATOR, SERVICE_ROLE, hand_over
from tradecounter.kit.private_folder import make_data_dir, make_private

_DATABASE = "postgres"
_SOCKET_NAME = ".s.PGSQL.5432"
_SOCKET_PATH_LIMIT = 103  # bytes, of the strictest kernels
_SHORT_PLACE = Path("/tmp")  # noqa: S108 a private folder inside; not TMPDIR, which may differ between the users
_DEAD = ("Z", "X")  # states of processes that are gone but for their number
_START_ATTEMPTS = 5  # after a crash the old server's last children may take a moment to go
_NOT_DURABLE = ("-c fsync=off", "-c synchronous_commit=off", "-c full_page_writes=off")


class EmbeddedPostgres:
    """One PostgreSQL cluster under a data directory; a context manager around its use.

    Entering raises EmbeddedError when the server cannot be had. `durable=False` trades safety against a crash of
    the machine for speed: for tests only.
    """

    def __init__(
        self, data_dir: Path, *, durable: bool = True, program_folder: Path | None = None, copies: Path = COPIES
    ) -> None:
        self.home = data_dir.resolve() / "postgres"
        self.data = self.home / "data"
        self.log = self.home / "server.log"
        self._durable = durable
        self._account = server_account()
        self._programs = Programs(program_folder or programs(), self._account, copies)
        self._users_lock: IO[bytes] | None = None

    def has_cluster(self) -> bool:
        """Tell whether there is a cluster to start, or something of which entering will say what is wrong with it."""
        try:
            return (self.data / "PG_VERSION").exists()
        except OSError:
            return True

    @property
    def socket_dir(self) -> Path:
        """The folder of the server's socket; where its path does not do for a socket, a link to it in a short place."""
        if len(os.fsencode(self.data / _SOCKET_NAME)) <= _SOCKET_PATH_LIMIT and "," not in str(self.data):
            return self.data
        digest = hashlib.sha256(os.fsencode(self.home)).hexdigest()[:16]
        return _SHORT_PLACE / f"tradecounter-{os.geteuid()}-{digest}" / "data"

    @property
    def postmaster(self) -> int | None:
        """The process id of the running server, or None."""
        try:
            pid = int((self.data / "postmaster.pid").read_text().split("\n", 1)[0])
        except (OSError, ValueError):
            return None
        return pid if pid > 0 and _lives(pid) else None

    @property
    def running(self) -> bool:
        """Whether the server runs and can be found."""
        at_hand = self.postmaster is not None and (self.socket_dir / _SOCKET_NAME).is_socket()
        return at_hand or self._ping() != Ping.NO_RESPONSE

    def url(self, database: str = _DATABASE) -> str:
        """Return the connection URL of a database on this server, for the role that owns the service's schema."""
        return self._url(SERVICE_ROLE, database)

    def administrator_url(self, database: str = _DATABASE) -> str:
        """Return the same for the role that may do anything, such as making databases."""
        return self._url(ADMINISTRATOR, database)

    def _url(self, role: str, database: str) -> str:
        return f"postgresql://{role}@/{database}?host={quote(str(self.socket_dir), safe='')}"

    def __enter__(self) -> Self:
        with self._named_trouble():
            make_data_dir(self.home.parent)
            _make_own(self.home)
            with self._sole_starter():
                users_lock = (self.home / "users.lock").open("wb")
                try:
                    if _lock_alone(users_lock):
                        self._stop_one_out_of_reach()
                    fcntl.flock(users_lock, fcntl.LOCK_SH)
                    if not self.has_cluster():
                        self._create_cluster()
                    self._ensure_running()
                except BaseException:
                    self._leave(users_lock)
                    raise
                self._users_lock = users_lock
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Without its folder the server ends by itself.
        if self._users_lock is None:
            return
        if not self.home.exists():
            self._users_lock.close()
            self._remove_link()
            return
        with self._sole_starter():
            self._leave(self._users_lock)

    def start_again(self) -> None:
        """Start the server after it died. Raises EmbeddedError; never makes a new cluster."""
        with self._named_trouble(), self._sole_starter():
            self._ensure_running()

    def _leave(self, users_lock: IO[bytes]) -> None:
        with users_lock:
            if not _lock_alone(users_lock):
                return  # another process still uses it
            if self.postmaster is not None:
                self._run("pg_ctl", "stop", "-D", self._programs.data, "-m", "fast")
            self._remove_link()

    @contextmanager
    def _sole_starter(self) -> Iterator[None]:
        with (self.home / "start.lock").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    @contextmanager
    def _named_trouble(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            place = error.filename or self.home
            raise EmbeddedError(f"the embedded PostgreSQL cannot use {place}: {error.strerror}") from error
        except psycopg.Error as error:
            raise EmbeddedError(f"the embedded PostgreSQL does not work: {error} (log: {self.log})") from error

    def _stop_one_out_of_reach(self) -> None:
        """Stop an unused server whose socket is elsewhere: earlier versions had it in another place."""
        if self.postmaster is not None and self._ping() == Ping.NO_RESPONSE:
            self._run("pg_ctl", "stop", "-D", self._programs.data, "-m", "fast")

    def _ensure_running(self) -> None:
        self._make_socket_dir()
        for attempt in range(1, _START_ATTEMPTS + 1):
            try:
                if self._ping() != Ping.OK:
                    self._start()
                hand_over(self.administrator_url())
            except (EmbeddedError, psycopg.OperationalError):  # the latter when it crashes after it answered
                if attempt == _START_ATTEMPTS:
                    raise
                time.sleep(1)
            else:
                break

    def _make_socket_dir(self) -> None:
        link = self.socket_dir
        if link == self.data:
            return
        _make_own(link.parent)
        if not (link.is_symlink() and link.readlink() == self.data):
            link.unlink(missing_ok=True)
            link.symlink_to(self.data)

    def _remove_link(self) -> None:
        if self.socket_dir != self.data:
            with suppress(OSError):
                self.socket_dir.unlink()
                self.socket_dir.parent.rmdir()

    def _create_cluster(self) -> None:
        # Made beside its place and moved there whole, so that an interrupted first start leaves nothing half-made.
        for left_over in self.home.glob("data.new-*"):
            shutil.rmtree(left_over, ignore_errors=True)
        draft = Path(tempfile.mkdtemp(prefix="data.new-", dir=self.home))
        if self._account is not None:
            os.chown(draft, self._account.pw_uid, self._account.pw_gid)
        self._run(
            "initdb", "-D", self._programs.data, "-U", ADMINISTRATOR, "--auth=trust", "--encoding=UTF8", "--locale=C",
            "--no-instructions", *([] if self._durable else ["--no-sync"]), folder=draft,
        )  # fmt: skip
        draft.rename(self.data)

    def _start(self) -> None:
        if self.postmaster is None:  # PostgreSQL takes a dead process for a running server until its parent collects it
            for name in ("postmaster.pid", f"{_SOCKET_NAME}.lock"):
                (self.data / name).unlink(missing_ok=True)
        options = [
            "-c listen_addresses=",
            "-c unix_socket_directories=.",
            "-c unix_socket_permissions=0700",
            "-c max_connections=200",
            *(() if self._durable else _NOT_DURABLE),
        ]
        # The log is opened here: the account may not be able to pass the folders above it.
        with os.fdopen(os.open(self.log, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "a+b") as log:
            start = log.seek(0, os.SEEK_END)
            arguments = ("start", "-s", "-w", "-D", self._programs.data, "-o", " ".join(options))
            done = self._programs.run("pg_ctl", *arguments, folder=self.data, output=log)
            if done.returncode != 0:
                raise self._failed("pg_ctl", _fatal(log, start) or done.stderr)

    def _ping(self) -> int:
        return PGconn.ping(f"{self.administrator_url()}&connect_timeout=3".encode())

    def _run(self, program: str, *arguments: str, folder: Path | None = None) -> None:
        done = self._programs.run(program, *arguments, folder=folder or self.data)
        if done.returncode != 0:
            raise self._failed(program, done.stderr or done.stdout)

    def _failed(self, program: str, reason: str) -> EmbeddedError:
        return EmbeddedError(f"the embedded PostgreSQL: {program} failed: {' '.join(reason.split())} (log: {self.log})")


def _fatal(log: IO[bytes], start: int) -> str:
    """Return what a server that did not start says of it in its log, from an offset on."""
    log.seek(start)
    lines = log.read().decode(errors="replace").splitlines()
    return " ".join(line.partition(word)[2] for line in lines for word in ("FATAL:", "HINT:") if word in line)


def _lock_alone(users_lock: IO[bytes]) -> bool:
    """Take the lock exclusively, unless another process holds it; tell whether that worked."""
    try:
        fcntl.flock(users_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lives(pid: int) -> bool:
    """Tell whether a process lives and, on Linux, is PostgreSQL's: after a restart, another may have its number."""
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)  # a container's first process has to collect orphans
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    try:
        name, _, state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")
    except OSError:
        return True
    return name.endswith("(postgres") and not state.startswith(_DEAD)


def _make_own(folder: Path) -> None:
    """Make a folder that only this user can enter. Raises EmbeddedError when it is another user's."""
    with suppress(FileNotFoundError):
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            raise EmbeddedError(f"{folder} belongs to another user: run as that user, or choose another data directory")
    make_private(folder)
