"""The embedded PostgreSQL: its first user starts it, its last user stops it."""

import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self
from urllib.parse import quote

import psycopg
import structlog
from psycopg.pq import PGconn, Ping
from psycopg.sql import SQL, Identifier

from tradecounter.db.embedded_programs import COPIES, EmbeddedError, Programs, programs, server_account
from tradecounter.db.schema_state import CONNECT_SECONDS
from tradecounter.kit.private_folder import make_data_dir, make_private

log = structlog.get_logger()

ADMINISTRATOR = "postgres"
SERVICE_ROLE = "tradecounter"  # owns the schema `public`, and has no other rights

_DATABASE = "postgres"
_SOCKET_NAME = ".s.PGSQL.5432"
_SOCKET_PATH_LIMIT = 103  # bytes, of the strictest kernels
_SHORT_PLACE = Path("/tmp")  # noqa: S108 a private folder inside; not TMPDIR, which may differ between the users
_LOOK_SECONDS = 0.2
_DEAD = ("Z", "X")  # states of ended processes that still have an entry
_PATIENCE_SECONDS = 60.0  # with a server that another user has started and that does not respond
_START_ATTEMPTS = 5  # after a crash, the old server's children may need a moment to end
_KEPT_WAL = "512MB"  # segments to write again; while a new one is made, for up to 0.1 s, no transaction commits
_NOT_DURABLE = ("-c fsync=off", "-c synchronous_commit=off", "-c full_page_writes=off")


class EmbeddedPostgres:
    """A PostgreSQL cluster in a data directory; entering the context raises EmbeddedError if it cannot start.

    Every process that uses the server has a shared lock on `users.lock`; the operating system releases it even after
    kill -9. A process that ends and can lock `users.lock` exclusively is the last user and stops the server.
    `start.lock` allows one process at a time to start or stop it. The server listens only on a socket in its own
    private folder.

    `durable=False` is for tests: it is faster, but a crash of the machine can lose data.
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
        """Return whether a cluster exists; also True for an unreadable folder, for which entering raises an error."""
        try:
            return (self.data / "PG_VERSION").exists()
        except OSError:
            return True

    @property
    def socket_dir(self) -> Path:
        """The folder of the server's socket, or a link with a shorter path if the path is too long for a socket."""
        if len(os.fsencode(self.data / _SOCKET_NAME)) <= _SOCKET_PATH_LIMIT and "," not in str(self.data):
            return self.data
        digest = hashlib.sha256(os.fsencode(self.home)).hexdigest()[:16]
        return _SHORT_PLACE / f"tradecounter-{os.geteuid()}-{digest}" / "data"

    @property
    def postmaster(self) -> int | None:
        """The running server's process id, or None."""
        try:
            pid = int((self.data / "postmaster.pid").read_text().split("\n", 1)[0])
        except (OSError, ValueError):
            return None
        return pid if pid > 0 and _lives(pid) else None

    @property
    def running(self) -> bool:
        """Whether the server runs and accepts connections."""
        has_socket = self.postmaster is not None and (self.socket_dir / _SOCKET_NAME).is_socket()
        return has_socket or self._ping() != Ping.NO_RESPONSE

    def url(self, database: str = _DATABASE) -> str:
        """Return the connection URL of a database on this server, for the role that owns the service's schema."""
        return self._url(SERVICE_ROLE, database)

    def administrator_url(self, database: str = _DATABASE) -> str:
        """Return the connection URL for the superuser, which can create databases."""
        return self._url(ADMINISTRATOR, database)

    def _url(self, role: str, database: str) -> str:
        return f"postgresql://{role}@/{database}?host={quote(str(self.socket_dir), safe='')}"

    def __enter__(self) -> Self:
        with self._converted_errors():
            make_data_dir(self.home.parent)
            _make_own(self.home)
            with self._sole_starter():
                users_lock = (self.home / "users.lock").open("wb")
                try:
                    fcntl.flock(users_lock, fcntl.LOCK_SH)
                    if not self.has_cluster():
                        self._create_cluster()
                    self._ensure_running()
                except BaseException:
                    self._release(users_lock)
                    raise
                self._users_lock = users_lock
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._users_lock is None:
            return
        if not self.home.exists():  # the server has already stopped
            self._users_lock.close()
            self._remove_link()
            return
        with self._sole_starter():
            self._release(self._users_lock)

    def restart(self) -> None:
        """Start the server again after it died; does not create a cluster. Raises EmbeddedError."""
        with self._converted_errors(), self._sole_starter():
            self._ensure_running()

    def _release(self, users_lock: IO[bytes]) -> None:
        with users_lock:
            if not _lock_alone(users_lock):
                return  # another process uses the server
            if self.postmaster is not None:
                self._run("pg_ctl", "stop", "-D", self._programs.data, "-m", "fast")
            self._remove_link()

    @contextmanager
    def _sole_starter(self) -> Iterator[None]:
        with (self.home / "start.lock").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    @contextmanager
    def _converted_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            place = error.filename or self.home
            raise EmbeddedError(f"the embedded PostgreSQL cannot use {place}: {error.strerror}") from error
        except psycopg.Error as error:
            raise EmbeddedError(f"the embedded PostgreSQL does not work: {error} (log: {self.log})") from error

    def _ensure_running(self) -> None:
        self._make_socket_dir()
        for attempt in range(1, _START_ATTEMPTS + 1):
            try:
                if self._ping() != Ping.OK and not self._comes_back():
                    self._start()
                hand_over(self.administrator_url())
            except (EmbeddedError, psycopg.OperationalError):  # the latter if it crashes after the ping
                if attempt == _START_ATTEMPTS:
                    raise
                time.sleep(1)
            else:
                break

    def _comes_back(self) -> bool:
        """Wait for a server that runs and does not respond: it starts, recovers, or stands still on a busy machine.

        Return False when none runs. Raises EmbeddedError if it does not respond for a minute.
        """
        until = time.monotonic() + _PATIENCE_SECONDS
        waits = False
        while (pid := self.postmaster) is not None:
            if self._ping() == Ping.OK:
                return True
            if time.monotonic() >= until:
                raise EmbeddedError(
                    f"the embedded PostgreSQL (process {pid}) runs, but has not responded for "
                    f"{_PATIENCE_SECONDS:.0f} seconds (log: {self.log})"
                )
            if not waits:
                log.warning("waiting for the embedded PostgreSQL, which runs and does not respond", server=pid)
                waits = True
            time.sleep(_LOOK_SECONDS)
        return False

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
        # Created under another name and then renamed, so that an interrupted first start leaves no incomplete cluster.
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
        if self.postmaster is None:  # PostgreSQL mistakes a zombie process for a running server
            for name in ("postmaster.pid", f"{_SOCKET_NAME}.lock"):
                (self.data / name).unlink(missing_ok=True)
        options = [
            "-c listen_addresses=",
            "-c unix_socket_directories=.",
            "-c unix_socket_permissions=0700",
            "-c max_connections=200",
            f"-c min_wal_size={_KEPT_WAL}",
            *(() if self._durable else _NOT_DURABLE),
        ]
        # Opened here, because the account may have no access to the parent folders.
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


_IS_OWNER = "select pg_get_userbyid(nspowner) = %s from pg_namespace where nspname = 'public'"


def hand_over(administrator_url: str) -> None:
    """Make the service's role the owner of the schema, if it is not; creates the role. Raises psycopg.Error."""
    with psycopg.connect(administrator_url, connect_timeout=CONNECT_SECONDS) as connection:
        if connection.execute(_IS_OWNER, [SERVICE_ROLE]).fetchone() == (True,):
            return
        role = Identifier(SERVICE_ROLE)
        if connection.execute("select to_regrole(%s)", [SERVICE_ROLE]).fetchone() == (None,):
            connection.execute(SQL("create role {} login").format(role))
        connection.execute(SQL("alter schema public owner to {}").format(role))


def _fatal(log: IO[bytes], start: int) -> str:
    """Return why the server did not start, from the log after an offset."""
    log.seek(start)
    lines = log.read().decode(errors="replace").splitlines()
    return " ".join(line.partition(word)[2] for line in lines for word in ("FATAL:", "HINT:") if word in line)


def _lock_alone(users_lock: IO[bytes]) -> bool:
    """Try to lock exclusively, without blocking; return whether it succeeded."""
    try:
        fcntl.flock(users_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lives(pid: int) -> bool:
    """Return whether a process lives and, on Linux, is PostgreSQL: after a reboot, another process may have its id."""
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)  # a container's first process must collect orphans
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
    """Create a folder to which only this user has access. Raises EmbeddedError if another user owns it."""
    with suppress(FileNotFoundError):
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            raise EmbeddedError(f"{folder} belongs to another user: run as that user, or choose another data directory")
    make_private(folder)


_WATCH_SECONDS = 0.5
_RETRY_SECONDS = 5.0


@contextmanager
def kept_running(server: EmbeddedPostgres) -> Iterator[None]:
    """Restart the server each time it dies while the block runs."""
    stop = threading.Event()
    # A thread, because the server is not a child process and the event loop may run in another process.
    watching = threading.Thread(target=_watch, args=(server, stop), name="embedded PostgreSQL", daemon=True)
    watching.start()
    try:
        yield
    finally:
        stop.set()
        watching.join()


def _watch(server: EmbeddedPostgres, stop: threading.Event) -> None:
    while not stop.wait(_WATCH_SECONDS):
        if server.running:
            continue
        log.error("the embedded PostgreSQL has died, restarting it", log=str(server.log))
        try:
            server.restart()
        except EmbeddedError as error:
            log.error("the embedded PostgreSQL does not start", error=str(error))  # noqa: TRY400 the message is sufficient
            stop.wait(_RETRY_SECONDS)
        else:
            log.warning("the embedded PostgreSQL is running again")
