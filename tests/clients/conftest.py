"""The built clients, and the service with the demo data."""

from collections.abc import Iterator

import pytest

from support.built_clients import (
    BuiltClient,
    PhpClient,
    PythonClient,
    TypeScriptClient,
    build_php,
    build_python,
    build_typescript,
    php_left_out,
)
from support.demo import Demo, running_demo
from support.node_packages import installed

# `tests/conftest.py` reports what is left out without Node.js and PHP.
LANGUAGES = ("python", *(["typescript"] if installed() else []), *([] if php_left_out() else ["php"]))
collect_ignore = ["test_php.py", "test_php_shop.py"] if "php" not in LANGUAGES else []


@pytest.fixture(scope="module")
def demo(database_url: str) -> Iterator[Demo]:
    with running_demo(database_url) as running:
        yield running


@pytest.fixture(scope="session")
def python_client(tmp_path_factory: pytest.TempPathFactory) -> PythonClient:
    return build_python(tmp_path_factory.mktemp("python"))


@pytest.fixture(scope="session")
def typescript_client(tmp_path_factory: pytest.TempPathFactory) -> TypeScriptClient:
    return build_typescript(tmp_path_factory.mktemp("typescript"))


@pytest.fixture(scope="session")
def php_client(tmp_path_factory: pytest.TempPathFactory) -> PhpClient:
    return build_php(tmp_path_factory.mktemp("php"))


@pytest.fixture(scope="session", params=LANGUAGES)
def client(request: pytest.FixtureRequest) -> BuiltClient:
    made: BuiltClient = request.getfixturevalue(f"{request.param}_client")
    return made
