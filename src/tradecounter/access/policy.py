"""The settings that signing in depends on."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from tradecounter.edge.people import Site
from tradecounter.identity.installation_secret import secret_keys
from tradecounter.identity.vault import Vault
from tradecounter.settings import Settings


class SignInPolicy(Struct, frozen=True):
    """Where a second factor is compulsory, the vault with their secrets, and the name that authenticators show."""

    staff_totp_required: bool
    vault: Vault
    issuer: str

    @classmethod
    def from_settings(cls, settings: Settings) -> "SignInPolicy":
        """Read the settings; the secret keys are read at the first use."""
        return cls(settings.staff_totp_required, factor_vault(lambda: secret_keys(settings)), settings.seller_name)

    def requires_factor(self, site: Site) -> bool:
        """Return whether everyone at a site needs a second factor."""
        return site == "staff" and self.staff_totp_required


def factor_vault(keys: Callable[[], Sequence[str]]) -> Vault:
    """Return the vault with the secrets of second factors."""
    return Vault("second factors", keys)
