"""Whether the process is ending, for whoever answers for its state."""


class Stopping:
    """Set once, when the process is told to end: it is still there for requests, and wants no new ones."""

    is_set = False

    def set(self) -> None:
        """Note that the process ends."""
        self.is_set = True
