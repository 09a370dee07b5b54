"""Limits how often a log line is repeated."""

import math
import time

REPEAT_SECONDS = 30.0


class Seldom:
    """Says when a repeated line is due again, and counts the lines that were left out since the last one."""

    def __init__(self, seconds: float = REPEAT_SECONDS) -> None:
        self._seconds = seconds
        self._logged_at = -math.inf
        self._left_out = 0
        self.left_out = 0  # before the line that is due

    def is_due(self) -> bool:
        """Return whether to log the line now."""
        now = time.monotonic()
        if now - self._logged_at < self._seconds:
            self._left_out += 1
            return False
        self._logged_at = now
        self.left_out, self._left_out = self._left_out, 0
        return True
