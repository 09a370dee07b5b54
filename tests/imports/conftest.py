"""A database to import into."""

from pathlib import Path

import pytest

from support.importing import Importer


@pytest.fixture(scope="module")
def importer(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Importer:
    return Importer(database_url, Path(tmp_path_factory.mktemp("imports")))
