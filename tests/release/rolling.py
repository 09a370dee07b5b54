"""Restarts all processes under load several times, also several workers behind one port: `make rolling`."""

from pathlib import Path

from support.cluster import Cluster
from support.day_at_noon import environment, new_day
from support.rolling import Node, behind_haproxy, running_nodes

ROUNDS = 3


def test_no_request_fails_while_all_processes_are_restarted_again_and_again(postgres: Cluster, tmp_path: Path) -> None:
    with postgres.database() as url:
        day, settings = new_day(url), environment(url)
        public = [Node("serve", *more, folder=tmp_path, environment=settings) for more in ([], ["--workers", "2"])]
        office = Node("backoffice", folder=tmp_path, environment=settings)
        worker = Node("worker", folder=tmp_path, environment=settings)
        nodes = [*public, office, worker]
        with (
            running_nodes(*nodes),
            behind_haproxy(public, office) as (site, backoffice),
            day.at_work(site.url, backoffice.url),
        ):
            for _ in range(ROUNDS):
                day.goes_on()
                public[1].replace_workers()
                for node in nodes:
                    node.restart()
            day.goes_on()
        assert [node.restarts for node in nodes] == [ROUNDS, 2 * ROUNDS, ROUNDS, ROUNDS]
        assert day.faults() == []
