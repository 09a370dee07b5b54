"""`make capacity`: measures the costs, or reads the last ones, and writes `docs/capacity.md` and its chart."""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg

from bench.__main__ import CATALOGUE, CATALOGUE_VARIABLE
from bench.kit import machine
from bench.kit.catalogue import read_catalogue
from bench.kit.processes import BenchError
from bench.kit.workbench import workbench
from bench.load_model.calibrate import Calibration
from bench.load_model.costs import Costs, read_costs, write_costs
from bench.load_model.page import write_page
from bench.load_model.site import site
from bench.load_model.work import Work
from tradecounter.kit.errors import OperatorError


def main() -> int:
    """Write the page; status 1 when the costs cannot be measured: then nothing is written."""
    parser = argparse.ArgumentParser(prog="make capacity", description=__doc__)
    parser.add_argument("--calculate", action="store_true", help="with the costs that were measured last")
    parser.add_argument("--quick", action="store_true", help="measure fewer requests of each kind")
    default = Path(os.environ.get(CATALOGUE_VARIABLE, CATALOGUE))
    parser.add_argument("--catalogue", type=Path, default=default, metavar="FOLDER", help="as of make bench")
    wanted = parser.parse_args()
    try:
        costs = read_costs() if wanted.calculate else _measured(wanted.catalogue, quick=wanted.quick)
    except (BenchError, OperatorError, subprocess.SubprocessError, psycopg.Error, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    if not wanted.calculate:
        write_costs(costs)
    write_page(costs)
    return 0


def _measured(catalogue: Path, *, quick: bool) -> Costs:
    machine.require_programs()
    with (
        tempfile.TemporaryDirectory(prefix="capacity-", ignore_cleanup_errors=True) as folder,
        workbench(Path(folder), read_catalogue(catalogue), quick=quick) as bench,
        site(bench, workers=1) as shop,
    ):
        return Calibration(bench, shop, Work(shop, bench.folder)).costs()


if __name__ == "__main__":
    sys.exit(main())
