"""The private folder in which the processes of a machine share the latest catalogue data (docs/adr/0025)."""

import fcntl
import mmap
import os
import pickle
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Self

from msgspec import Struct
from psycopg.conninfo import conninfo_to_dict

from tradecounter.db.changes import Version
from tradecounter.kit.digest import digest_of
from tradecounter.kit.parts import joined_parts, split_parts
from tradecounter.kit.private_folder import make_folders
from tradecounter.products.snapshot.layout import laid_out_by
from tradecounter.storefront.catalogue_data import CatalogueData

_PRIVATE_FILE = 0o600
_ANY_ACCESS = 0o077
_DIGITS = 16  # of a digest in a file name
_SUFFIX = ".catalogue"


def default_folder() -> Path:
    """Return the user's folder among the temporary files."""
    return Path(tempfile.gettempdir()) / f"tradecounter-{os.geteuid()}"


class SharedFolder(Struct, frozen=True):
    """One database's files in the folder, which is open as `descriptor`.

    A file is complete when it has its name, which says the program and the version of its data. It is never changed:
    the next one replaces it, and processes keep the memory of a deleted file until they no longer need it.
    """

    descriptor: int
    database: str

    @classmethod
    def open(cls, place: Path, database_url: str) -> Self:
        """Open the folder, which is created if necessary. Raises OSError, also if other users have access to it."""
        make_folders(place)
        descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            _require_private(os.fstat(descriptor), place)
        except OSError:
            os.close(descriptor)
            raise
        return cls(descriptor, _database(database_url))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.descriptor)

    def newest(self, at_least: Version) -> IO[bytes] | None:
        """Open the file with the newest data of the version's server, if it is not older.

        Raises OSError, also if other users have access to the file.
        """
        files = [(number, name) for name in self._files() if (number := self._number(name, at_least)) is not None]
        if not files or max(files)[0] < at_least.number:
            return None
        name = max(files)[1]
        try:
            file = open(name, "rb", opener=self._opener)  # noqa: SIM115 the caller closes it
        except FileNotFoundError:  # replaced by a newer one
            return None
        try:
            _require_private(os.fstat(file.fileno()), Path(name))
        except OSError:
            file.close()
            raise
        return file

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Try to become the only process that writes the database's files; yields whether it is.

        The lock ends with the process, however it ends.
        """
        with self._locked(f"{self.database}.lock") as locked:
            yield locked

    def take_place(self, places: int, until: ExitStack) -> bool:
        """Try to become one of so many processes that do something at once, until the stack is closed."""
        names = [f"{self.database}.turn-{place}" for place in range(places)]
        with ExitStack() as attempt:
            taken = any(attempt.enter_context(self._locked(name)) for name in names)
            if taken:
                until.push(attempt.pop_all())
        return taken

    @contextmanager
    def new_file(self) -> Iterator[IO[bytes]]:
        """Create the file that `publish` names; one without a name is deleted. Only for the process that is alone."""
        with suppress(FileNotFoundError):  # of a process that was killed
            os.unlink(self._partial, dir_fd=self.descriptor)
        with open(self._partial, "x+b", opener=self._opener) as file:
            try:
                yield file
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(self._partial, dir_fd=self.descriptor)

    def publish(self, data_version: Version) -> None:
        """Give the new file its name, at which other processes find it, and delete the database's other files."""
        name = f"{self._prefix(data_version)}{data_version.number}{_SUFFIX}"
        os.rename(self._partial, name, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)
        for other in self._files():
            if other != name:
                with suppress(FileNotFoundError):
                    os.unlink(other, dir_fd=self.descriptor)

    @contextmanager
    def _locked(self, name: str) -> Iterator[bool]:
        with open(name, "wb", opener=self._opener) as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True

    @property
    def _partial(self) -> str:
        return f"{self.database}.partial"

    def _files(self) -> list[str]:
        names = os.listdir(self.descriptor)  # noqa: PTH208 the open folder, whatever has its path now
        return [name for name in names if name.startswith(f"{self.database}-") and name.endswith(_SUFFIX)]

    def _prefix(self, data_version: Version) -> str:
        server = digest_of(data_version.server.encode()).hex()[:_DIGITS]
        return f"{self.database}-{_program()}-{server}-"

    def _number(self, name: str, wanted: Version) -> int | None:
        """Return the number of the data in a file; None for another program's data or another server's."""
        number = name.removeprefix(self._prefix(wanted)).removesuffix(_SUFFIX)
        return int(number) if number.isdecimal() else None

    def _opener(self, name: str, flags: int) -> int:
        return os.open(name, flags | os.O_NOFOLLOW, _PRIVATE_FILE, dir_fd=self.descriptor)


def _require_private(status: os.stat_result, place: Path) -> None:
    if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & _ANY_ACCESS:
        raise PermissionError(f"{place} belongs to another user, or other users have access to it")


def _database(database_url: str) -> str:
    """Return a name for a database: a digest of its URL without the password."""
    parameters = {key: value for key, value in conninfo_to_dict(database_url).items() if key != "password"}
    return digest_of(repr(sorted(parameters.items())).encode()).hex()[:_DIGITS]


@cache
def _program() -> str:
    """Return a name for this program since the machine's start."""
    return digest_of(_boot().encode(), laid_out_by().encode()).hex()[:_DIGITS]


def _boot() -> str:
    """Return the id of the machine's boot: after a crash, a file may lack parts that never reached the disk."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text()
    except OSError:
        return ""


_PROTOCOL = 5  # the first with out-of-band buffers


def write_data(data: CatalogueData, file: IO[bytes]) -> None:
    """Write the data to a file."""
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(data, _PROTOCOL, buffer_callback=buffers.append)
    file.writelines(joined_parts([memoryview(pickled), *(buffer.raw() for buffer in buffers)]))
    file.flush()


def map_data(file: IO[bytes]) -> CatalogueData:
    """Map a file that `write_data` wrote; the mapping ends with the last object that uses it."""
    pickled, *buffers = split_parts(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    data: CatalogueData = pickle.loads(pickled, buffers=buffers)  # noqa: S301 only our own processes can write the file
    return data
