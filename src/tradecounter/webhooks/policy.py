"""What the installation allows of webhooks, and how their secrets are stored."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from tradecounter.edge.server.client_address import read_networks
from tradecounter.identity.installation_secret import secret_keys
from tradecounter.identity.vault import Vault
from tradecounter.kit.public_addresses import Network
from tradecounter.settings import Settings


class WebhookPolicy(Struct, frozen=True):
    """Where endpoints may be, and the vault with their secrets."""

    networks: Sequence[Network]
    allow_http: bool
    vault: Vault

    @classmethod
    def from_settings(cls, settings: Settings) -> "WebhookPolicy":
        """Read the settings; the secret keys are read at the first use."""
        return cls(
            read_networks(settings.webhook_networks),
            settings.webhook_http,
            webhook_vault(lambda: secret_keys(settings)),
        )


def webhook_vault(keys: Callable[[], Sequence[str]]) -> Vault:
    """Return the vault with the endpoints' secrets."""
    return Vault("webhook secrets", keys)
