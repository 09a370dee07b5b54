"""Runs the image that deploy/Containerfile builds, as an unprivileged user on a read-only file system: `make image`."""

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest

from support.cluster import Cluster
from support.proxy import linked
from support.waiting import wait_for

IMAGE = os.environ.get("IMAGE", "localhost/tradecounter")
NAMESPACES = ("mount", "ipc", "uts", "pid")  # not the network: the test is the client
STOPS_SECONDS = 20  # docs/operators/run.md


@dataclass(frozen=True)
class Image:
    """The files of the image, and what it says of itself."""

    root: str
    config: Mapping[str, Any]
    folder: Path

    def command(
        self, words: Sequence[str], environment: Mapping[str, str] = {}, folders: Mapping[str, Path] = {}
    ) -> list[str]:
        """The command that runs these words in a new container, with the image's own user and environment.

        `folders` are those of the machine at places in the container, which is how volumes get there.
        """
        name = f"tradecounter-{os.getpid()}-{len(list(self.folder.iterdir()))}"
        bundle = self.folder / name
        bundle.mkdir()
        subprocess.run(["runc", "spec"], cwd=bundle, check=True)
        spec = json.loads((bundle / "config.json").read_text())
        user = int(self.config["User"].split(":")[0])
        spec["root"] = {"path": self.root, "readonly": True}
        spec["process"] |= {
            "terminal": False,
            "user": {"uid": user, "gid": user},
            "args": list(words),
            "cwd": self.config["WorkingDir"],
            "env": [*self.config["Env"], *(f"{name}={value}" for name, value in environment.items())],
            "capabilities": {},
            "noNewPrivileges": True,
            "rlimits": [],
        }
        spec["linux"]["namespaces"] = [each for each in spec["linux"]["namespaces"] if each["type"] in NAMESPACES]
        spec["mounts"] = [each for each in spec["mounts"] if each["type"] not in ("cgroup", "sysfs")]
        spec["mounts"] += [_memory(place, user) for place in ("/tmp", self.config["WorkingDir"])]
        spec["mounts"] += [_volume(place, folder) for place, folder in folders.items()]
        (bundle / "config.json").write_text(json.dumps(spec))
        return ["runc", "run", "--bundle", str(bundle), name]

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(self.command(words, environment), text=True, capture_output=True, timeout=60, check=False)


def _memory(place: str, user: int) -> dict[str, Any]:
    options = ["nosuid", "nodev", "mode=0700", f"uid={user}", f"gid={user}"]
    return {"destination": place, "type": "tmpfs", "source": "tmpfs", "options": options}


def _volume(place: str, folder: Path) -> dict[str, Any]:
    return {"destination": place, "type": "bind", "source": str(folder), "options": ["rbind", "nosuid", "nodev"]}


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    def buildah(*words: str) -> str:
        return subprocess.run(["buildah", *words], check=True, text=True, capture_output=True).stdout.strip()

    container = buildah("from", "--pull-never", IMAGE)
    try:
        config = json.loads(buildah("inspect", "--type", "image", IMAGE))["Docker"]["config"]
        yield Image(buildah("mount", container), config, tmp_path_factory.mktemp("bundles"))
    finally:
        buildah("rm", container)


@contextmanager
def volume(image: Image) -> Iterator[Path]:
    """A folder in memory for the image's user, as in deploy/compose.yaml."""
    folder = image.folder / "volume"
    folder.mkdir()
    user = image.config["User"].split(":")[0]
    options = f"uid={user},gid={user},mode=0700"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def processes_with(file: Path) -> int:
    """How many processes have the file in their memory."""
    found = 0
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with suppress(OSError):
            found += file.name in maps.read_text()
    return found


@contextmanager
def serving(
    image: Image, database_url: str, folders: Mapping[str, Path] = {}, **settings: str
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """The image's own command, on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [*image.config["Entrypoint"], *image.config["Cmd"], "--port", str(port)]
    environment = {"TRADECOUNTER_DATABASE_URL": database_url, "TRADECOUNTER_SECRET_KEY": "s" * 64, **settings}
    process = subprocess.Popen(image.command(words, environment, folders))
    try:
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGTERM)  # which runc hands on; if it were killed, the container would go on
        process.wait(STOPS_SECONDS)


def responds(url: str) -> bool:
    try:
        return httpx2.get(url, timeout=2).status_code == 200
    except httpx2.HTTPError:
        return False


def test_it_runs_without_privileges_and_writes_only_to_its_own_folders(image: Image) -> None:
    script = "id -u; touch /opt/tradecounter/x || echo refused; touch /tmp/x /var/lib/tradecounter/x && echo written"
    done = image.run("sh", "-c", script)
    assert done.stdout.split() == ["10001", "refused", "written"]
    assert image.run("tradecounter", "--version").stdout.startswith("tradecounter ")


def test_it_has_neither_the_tests_nor_what_builds_packages(image: Image) -> None:
    done = image.run("sh", "-c", "ls /opt/tradecounter/bin /release 2>/dev/null")
    assert "tradecounter" in done.stdout.split()
    assert "pip" not in done.stdout.split()
    assert not (Path(image.root) / "release").exists()


def test_it_migrates_serves_and_stops_gracefully(image: Image, postgres: Cluster) -> None:
    with postgres.empty_database() as database_url, linked(database_url) as link:
        environment = {"TRADECOUNTER_DATABASE_URL": link.url, "TRADECOUNTER_SECRET_KEY": "s" * 64}
        migrated = image.run("tradecounter", "db", "upgrade", **environment)
        assert migrated.returncode == 0, migrated.stderr
        with serving(image, link.url) as (process, url):
            wait_for(lambda: responds(f"{url}/ready"), 60)
            kind, *check = image.config["Healthcheck"]["Test"]
            assert kind == "CMD"
            healthy = image.run(*(word.replace("http://127.0.0.1:8000", url) for word in check))
            assert healthy.returncode == 0, healthy.stderr
            process.send_signal(signal.SIGTERM)
            assert process.wait(STOPS_SECONDS) == 0
        assert image.run(*(word.replace("http://127.0.0.1:8000", url) for word in check)).returncode != 0


def test_nodes_of_one_machine_share_a_large_catalogue_in_a_volume(image: Image, postgres: Cluster) -> None:
    with postgres.database() as database_url, linked(database_url) as link, volume(image) as folder:
        with psycopg.connect(database_url) as database:
            database.execute(
                "with made as (insert into manufacturer (key, name) values ('northway', 'Northway') returning key)"
                " insert into product (sku, sku_key, name, manufacturer)"
                " select 'P-' || n, 'p-' || n, 'Product ' || n, key from made, generate_series(1, 6000) n"
            )
        place = "/run/catalogue"
        settings = {"TRADECOUNTER_SNAPSHOT_DIR": place}
        with ExitStack() as stack:
            nodes = [stack.enter_context(serving(image, link.url, {place: folder}, **settings)) for _ in range(2)]
            wait_for(lambda: all(responds(f"{url}/ready") for _, url in nodes), 60)
            [shared] = folder.glob("*.catalogue")
            assert processes_with(shared) == 2
