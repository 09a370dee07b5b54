"""The built clients, and the service with the demo data."""

from collections.abc import Iterator

import pytest

from support.built_clients import BuiltClient, PythonClient, build_python, build_typescript
from support.demo import Demo, running_demo
from support.node_packages import installed

# `tests/conftest.py` reports what is left out without Node.js.
LANGUAGES = ("python", "typescript") if installed() else ("python",)


@pytest.fixture(scope="module")
def demo(database_url: str) -> Iterator[Demo]:
    with running_demo(database_url) as running:
        yield running


@pytest.fixture(scope="session")
def python_client(tmp_path_factory: pytest.TempPathFactory) -> PythonClient:
    return build_python(tmp_path_factory.mktemp("python"))


@pytest.fixture(scope="session", params=LANGUAGES)
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> BuiltClient:
    if request.param == "python":
        made: BuiltClient = request.getfixturevalue("python_client")
        return made
    return build_typescript(tmp_path_factory.mktemp("typescript"))
