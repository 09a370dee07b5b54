"""What all tests share: a PostgreSQL, a database and a service per module or test, and a closed network."""

import gc
import ipaddress
import itertools
import os
import shutil
import socket
import sys
from collections import defaultdict
from collections.abc import Generator, Iterator
from contextlib import suppress
from importlib import import_module
from math import gcd
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import settings

from support import node_packages, openapi_generator
from support.built_clients import php_left_out
from support.cluster import Cluster, cluster
from support.command_line import Forker, forking
from support.front_proxies import missing_packages
from support.observability import PACKAGE, promtool
from support.samples import missing_programs
from support.service import Service, running_service
from support.shop import stock_shop
from support.small_disk import can_mount

# On a busy machine, an example of any test may take longer than Hypothesis expects.
settings.register_profile("tests", settings(deadline=None))
settings.load_profile("tests")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which tests are left out, and what they need."""
    for language, programs in missing_programs().items():
        names = ", ".join(programs)
        terminalreporter.write_line(
            f"LEFT OUT: running the samples of /docs in {language}; without {names}", yellow=True
        )
    if missing := missing_packages():
        packages = " ".join(missing)
        terminalreporter.write_line(
            f"LEFT OUT: tests behind proxies; they need Debian's packages {packages}", yellow=True
        )
    if promtool() is None:
        terminalreporter.write_line(
            f"LEFT OUT: tests of the files for Prometheus; they need Debian's package {PACKAGE}", yellow=True
        )
    if not can_mount():
        terminalreporter.write_line("LEFT OUT: tests of a full disk; only root can mount one", yellow=True)
    if missing := php_left_out():
        packages = " ".join(missing)
        terminalreporter.write_line(
            f"LEFT OUT: tests of the client for PHP; they need Debian's packages {packages}", yellow=True
        )
    if shutil.which("phpstan") is None:
        terminalreporter.write_line(
            "LEFT OUT: PHPStan on the client for PHP; it needs phpstan on the path", yellow=True
        )
    for found in openapi_generator.left_out():
        terminalreporter.write_line(f"LEFT OUT: {found}", yellow=True)
    if (reason := node_packages.left_out()) is not None:
        terminalreporter.write_line(f"LEFT OUT: tests with npm packages; {reason}", yellow=True)
    elif node_packages.inspector_left_out():
        terminalreporter.write_line(
            "LEFT OUT: the inspector of /mcp; it needs Linux on x64, for Node.js 22", yellow=True
        )


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Have the garbage collector pass over what collecting makes and every process of the run keeps to its end.

    It would look at millions of objects again and again: a third of collecting, a tenth of the tests of the API.
    """
    gc.disable()
    try:
        _import_own_share(session.config)
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def _import_own_share(config: pytest.Config) -> None:
    """Import the test files that this process of the run has to compile.

    All processes collect all files, in the same order. In a fresh clone each would compile each file, because the
    others were not done with it: half a minute of the processor for every process.
    """
    workers: dict[str, Any] | None = getattr(config, "workerinput", None)
    if workers is None or config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    tests = Path(__file__).parent
    own = int(workers["workerid"].removeprefix("gw"))
    for file in sorted(tests.rglob("test_*.py"))[own :: workers["workercount"]]:
        name = ".".join(file.relative_to(tests).with_suffix("").parts)
        with suppress(Exception):  # collecting says what is wrong with it
            import_module(name)
        sys.modules.pop(name, None)  # it is collected by another name


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave long tests and sweeps to their commands, unless the command line names their file or chooses by marks."""
    if config.option.markexpr or any(name.partition("::")[0].endswith(".py") for name in config.args):
        return
    left = _beyond_samples(items) | {item for item in items if item.get_closest_marker("long")}
    items[:] = [item for item in items if item not in left]
    config.hook.pytest_deselected(items=[*left])


def _beyond_samples(items: list[pytest.Item]) -> set[pytest.Item]:
    """The cases of sweeps, but for the first of each test whose mark says `every` and one of so many after it."""
    cases = defaultdict[str, list[pytest.Item]](list)
    for item in items:
        if item.get_closest_marker("sweep") is not None:
            cases[item.nodeid.partition("[")[0]].append(item)
    left: set[pytest.Item] = set()
    for those in cases.values():
        sweep = those[0].get_closest_marker("sweep")
        every = None if sweep is None else sweep.kwargs.get("every")
        left.update(those if every is None else set(those) - set(those[:: _step(every, those)]))
    return left


def _step(every: int, cases: list[pytest.Item]) -> int:
    """`every`, or the next number that skips no value of a parameter for good: three of six would be the same two."""
    values: list[dict[str, Any]] = [case.callspec.params for case in cases if hasattr(case, "callspec")]
    sizes = {len({id(each[name]) for each in values}) for name in values[0]} if values else set()
    sizes.discard(len(cases))  # the only parameter
    return next(step for step in itertools.count(every) if all(gcd(step, size) == 1 for size in sizes))


@pytest.fixture(scope="session", autouse=True)
def closed_network() -> Iterator[None]:
    """Let no test reach beyond this machine's loopback."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and not ipaddress.ip_address(address[0].split("%")[0]).is_loopback:
            raise AssertionError(f"a test tried to reach {address}")
        connect(self, address)

    patch = pytest.MonkeyPatch()
    patch.setattr(socket.socket, "connect", guarded)
    yield
    patch.undo()


@pytest.fixture(scope="session", autouse=True)
def clean_environment() -> Iterator[None]:
    """Remove the settings of the user who runs the tests."""
    patch = pytest.MonkeyPatch()
    for name in [
        name for name in os.environ if name.startswith("TRADECOUNTER_") and name != "TRADECOUNTER_DATABASE_URL"
    ]:
        patch.delenv(name)
    yield
    patch.undo()


@pytest.fixture(scope="session", autouse=True)
def plain_tracebacks() -> None:
    """Let faults that tests provoke be printed plainly: a picture with the values of all variables takes a second."""
    processors = structlog.get_config()["processors"]
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*processors[:-1], plain])


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory, worker_id: str, testrun_uid: str) -> Iterator[Cluster]:
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent
    with cluster(shared, testrun_uid[:8]) as found:
        yield found


@pytest.fixture(scope="session")
def forker() -> Iterator[Forker]:
    """The process that commands are forked from: it takes seconds to start, so one does for all files."""
    with forking() as found:
        yield found


@pytest.fixture(scope="module")
def database_url(postgres: Cluster) -> Iterator[str]:
    """A migrated, empty database for the module's tests."""
    with postgres.database() as url:
        yield url


@pytest.fixture(scope="module")
def service(database_url: str) -> Iterator[Service]:
    """The API on an empty database, its clock standing on a Tuesday morning in June."""
    with running_service(database_url) as running:
        yield running


@pytest.fixture(scope="session")
def stocked_url(postgres: Cluster) -> Iterator[str]:
    """A database with the small catalogue of `support/shop.py`, to copy: importing it takes longer than most tests."""
    with postgres.database() as url:
        with running_service(url) as running:
            stock_shop(running)
        yield url


@pytest.fixture(scope="module")
def shop(postgres: Cluster, stocked_url: str) -> Iterator[Service]:
    """The API with the small catalogue of `support/shop.py`."""
    with postgres.database(stocked_url) as url, running_service(url) as running:
        yield running


@pytest.fixture
def own_service(postgres: Cluster) -> Iterator[Service]:
    """The API on a database for one test, which changes data that other tests rely on."""
    with postgres.database() as url, running_service(url) as running:
        yield running


@pytest.fixture
def own_shop(postgres: Cluster, stocked_url: str) -> Iterator[Service]:
    """The API with the small catalogue for one test."""
    with postgres.database(stocked_url) as url, running_service(url) as running:
        yield running
