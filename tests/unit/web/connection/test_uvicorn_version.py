"""`BoundedProtocol`, `Server` and `Supervisor` build on the insides of one minor version of uvicorn."""

import tomllib
from pathlib import Path

import uvicorn

WRITTEN_FOR = "0.54"
PYPROJECT = Path(__file__).parents[4] / "pyproject.toml"

TO_DO = (
    "uvicorn has moved: compare its protocols/http/httptools_impl.py, flow_control.py, server.py and "
    "supervisors/multiprocess.py with those that edge/server/connection/ and, in sites/http/, fast_path/protocol.py, "
    "winding_down.py and api_processes.py build on, then change WRITTEN_FOR and the bounds in pyproject.toml"
)


def test_the_installed_uvicorn_is_the_one_that_the_protocol_class_was_written_for() -> None:
    assert uvicorn.__version__.rpartition(".")[0] == WRITTEN_FOR, TO_DO


def test_no_other_minor_version_can_be_installed() -> None:
    dependencies = tomllib.loads(PYPROJECT.read_text())["project"]["dependencies"]
    major, minor = map(int, WRITTEN_FOR.split("."))
    assert f"uvicorn>={WRITTEN_FOR},<{major}.{minor + 1}" in dependencies
