"""The limit of orders: pgbench with the same statements, on the tested core."""

import re
import subprocess
from pathlib import Path

from bench.kit.processes import BenchError, pinned
from bench.kit.store import Store
from tradecounter.db.embedded_programs import programs

_MORE_SECONDS = 60


def transactions_per_second(store: Store, script: Path, seconds: float, *, clients: int, **more: int) -> float:
    """Run a script over and over with prepared statements; return its rate. `more` are further variables of it."""
    with store.connect() as connection:
        found = connection.execute("select min(id), count(*) from product").fetchone()
    first_product, products = found or (1, 1)
    variables = {
        "first_customer": min(store.customer_ids),
        "customers": len(store.customer_ids),
        "first_product": first_product,
        "products": products,
        **more,
    }
    command = pinned(
        [
            str(programs() / "pgbench"), "-n", "-M", "prepared", "-c", str(clients), "-j", "1",
            "-T", str(max(1, round(seconds))), "-f", str(script),
            *(word for name, value in variables.items() for word in ("-D", f"{name}={value}")),
            store.url,
        ]
    )  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + _MORE_SECONDS, check=False)
    rate = re.search(r"^tps = ([0-9.]+)", done.stdout, re.MULTILINE)
    if done.returncode != 0 or rate is None:
        raise BenchError(f"pgbench failed: {(done.stderr or done.stdout).strip()[-500:]}")
    return float(rate[1])
