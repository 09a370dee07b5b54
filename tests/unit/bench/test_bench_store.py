"""The benchmarks fill their own database through the product's commands."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bench.kit.catalogue import DEMO_DATA, read_catalogue
from bench.kit.customers import COUNT
from bench.kit.store import make_store
from support.cluster import Cluster

pytestmark = pytest.mark.long


def test_a_store_can_be_filled(postgres: Cluster, tmp_path: Path) -> None:
    catalogue = read_catalogue(DEMO_DATA)
    with postgres.empty_database() as url:
        own = postgres.administrator_url_of(urlsplit(url).path[1:])  # a benchmark has a server of its own
        store = make_store(tmp_path / "store", own, catalogue, len(catalogue.products))
        with store.connect() as connection:
            [counted] = connection.execute("select count(*), (select count(*) from product) from customer").fetchall()
    assert counted == (COUNT, len(catalogue.products))
