"""Importing into a database that has a manufacturer."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.cluster import Cluster
from support.importing import Importer


@pytest.fixture(scope="module")
def importer(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Importer:
    return importer_of(database_url, tmp_path_factory.mktemp("imports"))


@pytest.fixture
def own_importer(postgres: Cluster, tmp_path: Path) -> Iterator[Importer]:
    """An importer for one test, which changes data that other tests rely on."""
    with postgres.database() as url:
        yield importer_of(url, tmp_path)


def importer_of(database_url: str, folder: Path) -> Importer:
    made = Importer(database_url, folder)
    made.load("manufacturers", [{"key": "acme", "name": "Acme"}])
    return made
