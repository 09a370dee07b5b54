"""Do Patroni, etcd and HAProxy serve the metrics that the dashboard and the alerts for several machines name?"""

import re
from collections.abc import Sequence
from typing import Any

import httpx2

from rigs.failover.namespaces import Machine
from support.observability import metrics_of_the_cluster

_PATRONI, _ETCD, _HAPROXY = 8008, 2381, 8405


def faults_in_exporters(data: Sequence[Machine], others: Sequence[Machine]) -> dict[str, Any]:
    """Metrics that no machine serves."""
    places = [(machine, port) for machine in data for port in (_PATRONI, _ETCD)]
    places += [(machine, _HAPROXY) for machine in others]
    served: set[str] = set()
    for machine, port in places:
        page = httpx2.get(f"http://{machine.address}:{port}/metrics", timeout=5).raise_for_status().text
        served |= set(re.findall(r"^(\w+)", page, re.MULTILINE))
    missing = metrics_of_the_cluster() - served
    return {"metrics that no machine serves": sorted(missing)} if missing else {}
