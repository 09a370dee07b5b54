"""Restarting the processes of both sites behind HAProxy, one after the other, fails no request."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support.cluster import Cluster
from support.day_at_noon import environment, new_day
from support.rolling import Node, behind_haproxy, running_nodes

pytestmark = pytest.mark.long


def test_restarting_the_sites_behind_haproxy_fails_no_request(postgres: Cluster, tmp_path: Path) -> None:
    with postgres.database() as url:
        day = new_day(url)
        public = [Node("serve", folder=tmp_path, environment=environment(url)) for _ in range(2)]
        office = Node("backoffice", folder=tmp_path, environment=environment(url))
        with (
            running_nodes(*public, office),
            behind_haproxy(public, office) as (site, backoffice),
            day.at_work(site.url, backoffice.url),
            ThreadPoolExecutor(1) as threads,
        ):
            day.goes_on()
            restarted = threads.submit(office.restart)
            for node in public:
                node.restart()
            restarted.result()
            day.goes_on()
        assert day.faults() == []
        assert len(day.confirmed) >= len(day.invoiced) >= 2
