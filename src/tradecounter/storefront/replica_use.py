"""Counts how often the replica was read, and logs when it becomes unusable and usable again."""

import structlog

log = structlog.get_logger()


class ReplicaUse:
    """The catalogues that this process had laid out from the replica, and those for which it was not usable."""

    def __init__(self) -> None:
        self.used = 0
        self.unusable = 0
        self._is_unusable = False

    def note(self, reason: str | None) -> None:
        """Note that the replica was read, or the reason why it was not."""
        if reason is None:
            self.used += 1
            if self._is_unusable:
                log.warning("the replica can be used again")
        else:
            self.unusable += 1
            if not self._is_unusable:
                log.warning("the replica cannot be used: the catalogue is read from the primary", reason=reason)
        self._is_unusable = reason is not None
