"""This service as the issuer of consent: its name, its vault and its keys."""

from dataclasses import dataclass

from joserfc.jwk import import_key

from tradecounter.consent.keys import issuer_vault, published_keys, signing_key
from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading, transaction
from tradecounter.identity.installation_secret import secret_keys
from tradecounter.identity.oauth.issuer_documents import IssuerKeys
from tradecounter.identity.vault import Vault
from tradecounter.kit.clock import Clock
from tradecounter.settings import Settings

PATH = "/auth"  # below the base URL


def issuer_name(base_url: str) -> str:
    """Return the issuer's name for the service at a base URL."""
    return f"{base_url}{PATH}"


@dataclass(frozen=True, slots=True)
class OwnIssuer:
    """The own issuer. Keys are read from the database each time, so a rotation counts in all processes at once."""

    database: Database
    clock: Clock
    vault: Vault

    @classmethod
    def from_settings(cls, settings: Settings, database: Database, clock: Clock) -> "OwnIssuer":
        """Return the own issuer; the secret keys are read at the first use."""
        return cls(database, clock, issuer_vault(lambda: secret_keys(settings)))

    async def keys(self, kid: str | None, base_url: str) -> IssuerKeys:
        """Return the public keys whose tokens may be valid."""
        async with reading(self.database) as tx:
            found = await published_keys(tx, self.clock.now())
        return IssuerKeys(issuer_name(base_url), tuple(import_key(key) for key in found), own=True)

    async def key_set(self) -> list[dict[str, str]]:
        """Return the public keys as JSON Web Keys; make the first one if there is none."""
        async with reading(self.database) as tx:
            found = await published_keys(tx, self.clock.now())
        if not found:
            async with transaction(self.database) as tx:
                await signing_key(tx, self.vault, self.clock.now())
                found = await published_keys(tx, self.clock.now())
        return found
