"""A process that uses an embedded PostgreSQL until its standard input ends: a program, and the handle on it."""

import json
import os
import pwd
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tradecounter.db.embedded import EmbeddedPostgres
from tradecounter.edge.command_line.session import configure_logs

IS_ROOT = os.geteuid() == 0


def account(name: str) -> pwd.struct_passwd:
    return pwd.getpwnam(name)


def become(name: str) -> list[str]:
    """What starts a program as another user; it may read all files, so that it reaches this Python wherever it is."""
    user = account(name)
    return [
        "setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups",
        "--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search",
    ]  # fmt: skip


@dataclass
class EmbeddedUser:
    process: subprocess.Popen[str]
    url: str
    socket_dir: Path
    home: Path
    administrator_url: str

    @property
    def postmaster(self) -> int:
        return int((self.home / "data" / "postmaster.pid").read_text().split("\n", 1)[0])

    def leave(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(timeout=30) == 0

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(timeout=30)


def start_user(
    data_dir: Path,
    prefix: Sequence[str] = (),
    environment: dict[str, str] | None = None,
    *,
    durable: bool = False,
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*prefix, sys.executable, __file__, str(data_dir), *(["durable"] if durable else [])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=None if environment is None else {**os.environ, **environment},
    )


@contextmanager
def embedded_user(
    data_dir: Path,
    prefix: Sequence[str] = (),
    environment: dict[str, str] | None = None,
    *,
    durable: bool = False,
) -> Iterator[EmbeddedUser]:
    """Another process that uses the server of a data directory while the block runs, unless it is told to leave."""
    with start_user(data_dir, prefix, environment, durable=durable) as process:
        try:
            yield ready(process)
        finally:
            process.kill()


def start_error(data_dir: Path, prefix: Sequence[str] = (), environment: dict[str, str] | None = None) -> str:
    """What a process says that cannot have the server of a data directory."""
    with start_user(data_dir, prefix, environment) as process:
        _, problems = process.communicate(timeout=60)
        assert process.returncode == 1
        return problems.strip().splitlines()[-1]


def ready(process: subprocess.Popen[str]) -> EmbeddedUser:
    assert process.stdout is not None
    assert process.stderr is not None
    line = process.stdout.readline()
    assert line, process.stderr.read()
    told: dict[str, Any] = json.loads(line)
    return EmbeddedUser(process, told["url"], Path(told["socket_dir"]), Path(told["home"]), told["administrator_url"])


if __name__ == "__main__":
    configure_logs("user")
    with EmbeddedPostgres(Path(sys.argv[1]), durable="durable" in sys.argv[2:]) as server:
        where = {
            "url": server.url(),
            "socket_dir": str(server.socket_dir),
            "home": str(server.home),
            "administrator_url": server.administrator_url(),
        }
        print(json.dumps(where), flush=True)  # noqa: T201 the program's output
        sys.stdin.read()
