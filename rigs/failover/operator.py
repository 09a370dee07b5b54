"""The operator of the cluster, who does what the guide says: a replica that does not come back is cloned again."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rigs.failover.cluster import Cluster
from rigs.failover.services import every_second

PATIENCE_SECONDS = 30
_WELL = frozenset({"streaming", "creating replica"})


@dataclass
class Operator:
    """Watches the replicas, and notes when which had to be cloned again and in what state it was."""

    cluster: Cluster
    cloned: list[tuple[float, str, str]] = field(default_factory=list)
    _ill_since: dict[str, float] = field(default_factory=dict)

    def look(self, now: float) -> None:
        """Clone each replica again that has not streamed for long while its Patroni and a primary were there."""
        primary = self.cluster.primary()
        members = self.cluster.state(primary).get("members", []) if primary else []
        ill = {
            member["name"]: member.get("state", "")
            for member in members
            if member.get("role") != "leader" and "api_url" in member and member.get("state") not in _WELL
        }
        self._ill_since = {name: self._ill_since.get(name, now) for name in ill}
        for name, since in list(self._ill_since.items()):
            if now - since >= PATIENCE_SECONDS:
                [machine] = [each for each in self.cluster.machines if each.name == name]
                if self.cluster.reinitialise(machine):
                    self.cloned.append((now, name, ill[name]))
                del self._ill_since[name]

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look every second while the block runs."""
        with every_second(lambda: self.look(time.monotonic())):
            yield
