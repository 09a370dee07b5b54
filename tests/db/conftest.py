"""Clusters for tests that do not ask how a cluster is created, which takes longer than all else that they do."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tradecounter.db.embedded import EmbeddedPostgres


@pytest.fixture(scope="session")
def _empty_cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cluster")
    with EmbeddedPostgres(folder, durable=False):
        return folder / "postgres"


@pytest.fixture
def with_cluster(_empty_cluster: Path) -> Callable[[Path], Path]:
    """Make a folder a data directory with an empty cluster; return the folder."""

    def copy(folder: Path) -> Path:
        folder.mkdir(exist_ok=True)
        subprocess.run(["cp", "-a", _empty_cluster, folder], check=True)  # keeps the owner
        return folder

    return copy
