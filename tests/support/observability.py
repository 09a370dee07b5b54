"""The files for Prometheus and Grafana, and `promtool`, which checks them."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[2] / "deploy" / "observability"
ALERTS = ("alerts.yaml", "cluster-alerts.yaml")
DASHBOARDS = ("dashboard.json", "cluster-dashboard.json")
CONFIGURATIONS = ("prometheus.yaml", "cluster-prometheus.yaml")
_OF_THE_CLUSTER = ("patroni", "etcd", "haproxy")
PACKAGE = "prometheus"  # Debian's package of promtool
_PATH = f"{os.environ.get('PATH', '')}:/usr/bin:/usr/sbin"


def promtool() -> str | None:
    """The program's path; None without the program."""
    return shutil.which("promtool", path=_PATH)


def run_promtool(*words: str | Path) -> str:
    """Run promtool, which has to succeed; return what it wrote."""
    program = promtool()
    assert program is not None
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def alerts() -> dict[str, dict[str, Any]]:
    """The alerts by name."""
    documents = [yaml.safe_load((FOLDER / name).read_text()) for name in ALERTS]
    return {rule["alert"]: rule for document in documents for group in document["groups"] for rule in group["rules"]}


def panels(dashboard: str) -> list[dict[str, Any]]:
    """The panels of a dashboard that show something."""
    found: list[dict[str, Any]] = json.loads((FOLDER / dashboard).read_text())["panels"]
    return [panel for panel in found if panel["type"] != "row"]


def expressions() -> dict[str, str]:
    """All expressions, by where they are, with values for Grafana's variables."""
    found = {f"alert {name}": rule["expr"] for name, rule in alerts().items()}
    for dashboard in DASHBOARDS:
        for panel in panels(dashboard):
            for target in panel["targets"]:
                expression = target["expr"].replace("$__rate_interval", "1m").replace("$job", "tradecounter-.+")
                found[f"panel {panel['title']}, {target['refId']}"] = expression
    return found


def metrics_of_the_cluster() -> set[str]:
    """The metrics in the expressions that are Patroni's, etcd's or HAProxy's; `make failover` looks for them."""
    names = "|".join(_OF_THE_CLUSTER)
    return {name for text in expressions().values() for name in re.findall(rf"\b(?:{names})_\w+", text)}


def used_metrics(expression: str) -> dict[str, set[str]]:
    """The project's metrics in an expression, each with the labels that select its series."""
    found: dict[str, set[str]] = {}
    for name, selector in re.findall(r"\b(tradecounter_\w+)(?:\{([^}]*)\})?", expression):
        found.setdefault(name, set()).update(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selector))
    return found
