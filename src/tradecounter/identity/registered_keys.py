"""Whether a process has the secret keys that the database uses, while it runs (docs/architecture.md)."""

from collections.abc import Callable, Mapping, Sequence

import structlog

from tradecounter.db.changes import Version, Versions
from tradecounter.db.transaction import Transaction
from tradecounter.identity.queries.secret_fingerprints import fingerprint, registered_keys
from tradecounter.kit.errors import OperatorError

log = structlog.get_logger()

MISSING = (
    "this database uses a key that is neither this key nor in TRADECOUNTER_FORMER_SECRET_KEYS: restore that key; "
    "if it is lost, see `tradecounter secret rotate --help`"
)
REPLACED = (
    "`tradecounter secret rotate` has replaced this key: set the new one, and this one in "
    "TRADECOUNTER_FORMER_SECRET_KEYS until the rotation has ended"
)


def problem_of(registered: Mapping[str, bool], secret_keys: Sequence[str]) -> str | None:
    """Return what is wrong with a process's keys (the first one encrypts); None when they are right.

    `registered` says of each fingerprint whether its key is being replaced. Before the first one is registered, all
    keys are right.
    """
    own = [fingerprint(key) for key in secret_keys]
    if not registered.keys() <= set(own):
        return MISSING
    return REPLACED if registered and registered.get(own[0], True) else None


class RegisteredKeys:
    """Compares a process's secret keys with those of the database whenever these change."""

    def __init__(self, secret_keys: Callable[[], Sequence[str]]) -> None:
        """Take a function that returns the secret keys, or raises SettingsError, at each look."""
        self.problem: str | None = None
        self._secret_keys = secret_keys
        self._version: Version | None = None

    async def refresh(self, tx: Transaction, versions: Versions) -> None:
        """Look again if the registered keys have changed; log what is wrong."""
        version = versions.of("secrets")
        if version == self._version:
            return
        await self.look(tx)
        self._version = version

    async def look(self, tx: Transaction) -> None:
        """Compare the keys, and log once what is wrong."""
        former = self.problem
        registered = await registered_keys(tx)
        try:
            self.problem = problem_of(registered, self._secret_keys())
        except OperatorError as error:  # no key at all
            self.problem = str(error)
        if self.problem is not None and self.problem != former:
            log.error("this process has a wrong secret key", reason=self.problem)
