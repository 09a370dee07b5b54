"""A small disk in memory for one database of the cluster; only root can mount it."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from support.cluster import Cluster

_BYTES = 96 * 1024 * 1024
_NAME = "tradecounter_small_disk"


@dataclass(frozen=True)
class SmallDisk:
    """A mounted disk."""

    folder: Path

    @contextmanager
    def full(self) -> Iterator[None]:
        """Fill the disk while the block runs."""
        filler = self.folder / "filler"
        with filler.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(64 * 1024))
            except OSError:
                pass
        with filler.open("ab", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(512))
            except OSError:
                pass
        try:
            yield
        finally:
            filler.unlink()


@cache
def can_mount() -> bool:
    """Whether this machine lets the tests mount a disk."""
    if os.geteuid() != 0 or shutil.which("mount") is None or "TRADECOUNTER_DATABASE_URL" in os.environ:
        return False
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True, check=False
        )
        if done.returncode == 0:
            subprocess.run(["umount", folder], check=True)
    return done.returncode == 0


@contextmanager
def small_disk(cluster: Cluster) -> Iterator[tuple[SmallDisk, str]]:
    """A disk with a migrated, empty database on it; the database's URL."""
    database = f"{_NAME}_{os.getpid()}"
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        folder = Path(place) / "disk"
        folder.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_BYTES}", "tmpfs", str(folder)], check=True)
        try:
            space = folder / "space"
            space.mkdir()
            account = pwd.getpwnam("nobody")
            os.chown(space, account.pw_uid, account.pw_gid)
            cluster.execute(f"create tablespace {{}} location '{space}'", _NAME)
            cluster.execute(
                "create database {} template {} tablespace {} strategy file_copy",
                database,
                cluster.template,
                _NAME,
            )
            try:
                yield SmallDisk(folder), cluster.url_of(database)
            finally:
                cluster.execute("drop database {} with (force)", database)
                cluster.execute("drop tablespace {}", _NAME)
        finally:
            subprocess.run(["umount", "-l", str(folder)], check=True)
