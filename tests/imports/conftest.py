"""Importing into a database that has a manufacturer."""

import pytest

from support.importing import Importer


@pytest.fixture(scope="module")
def importer(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Importer:
    made = Importer(database_url, tmp_path_factory.mktemp("imports"))
    made.load("manufacturers", [{"key": "acme", "name": "Acme"}])
    return made
