"""Processes that read parts of a large catalogue see what the first one sees; without them, it reads all itself."""

import json
import subprocess
import sys
from typing import Any

import pytest

from support.command_line import without_settings
from support.service import Service
from support.shop import product

SKUS = [f"Part-{number}" for number in range(9)]

# In a process of its own: a process that forks must have no threads.
PROGRAM = """
import asyncio, json, sys
import psycopg
from tradecounter.catalogue.queries.records import read_product_ids, read_reference
from tradecounter.catalogue.snapshot.catalogue_snapshot import read_snapshot, snapshot_of
from tradecounter.db.exported_snapshot import export_snapshot
from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading
from tradecounter.storefront.part_processes import PartProcess, PartReader, PartTask

url, of_processes = sys.argv[1:]
processes = []
for _ in range(4):
    processes.append(PartProcess.fork(processes))

async def main():
    async with Database(url, connections=1) as database, reading(database) as tx:
        ids = await read_product_ids(tx)
        reference, name = await read_reference(tx), await export_snapshot(tx)
        psycopg.connect(url, autocommit=True).execute("update product set name = 'Changed meanwhile'")
        first = await processes.pop().read(PartTask(of_processes, name, ids[3:5]))
        names = None if first is None else snapshot_of(reference, [first])
        whole = await read_snapshot(tx)
        divided = await read_snapshot(tx, PartReader(of_processes, processes).read)
    return {
        "part": None if first is None else [names.product(row).name for row in range(len(names))],
        "names": [whole.product(row).name for row in range(len(whole))],
        "divided": [divided.product(row).name for row in range(len(divided))],
        "digests": [whole.digest.hex(), divided.digest.hex()],
    }

print(json.dumps(asyncio.run(main())))
"""


def result(url: str, url_of_processes: str) -> Any:
    command = [sys.executable, "-c", PROGRAM, url, url_of_processes]
    done = subprocess.run(command, env=without_settings(), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def catalogue(shop: Service) -> Service:
    shop.must_load("products", [product(sku) for sku in SKUS])
    return shop


def test_a_process_sees_what_the_first_one_saw_when_it_began(catalogue: Service) -> None:
    found = result(catalogue.database_url, catalogue.database_url)
    assert found["part"] == found["names"][3:5]
    assert "Changed meanwhile" not in found["names"]
    assert found["divided"] == found["names"]
    assert len(set(found["digests"])) == 1


def test_products_that_no_other_process_can_read_are_read_by_the_first_one(catalogue: Service) -> None:
    found = result(catalogue.database_url, "postgresql://127.0.0.1:9/nowhere")
    assert found["part"] is None
    assert found["divided"] == found["names"]
    assert len(set(found["digests"])) == 1
