"""Logs warnings at a service's start: unknown settings, examples, and addresses at which nobody can sign in."""

from email.utils import parseaddr

import structlog
from msgspec import Struct

from tradecounter.kit.setting_rules import is_safe_url
from tradecounter.letterhead.seller import example_settings
from tradecounter.notifications.transport import mail_folder
from tradecounter.settings import PREFIX, Settings, unknown_settings

log = structlog.get_logger()

PLAIN_REMEDY = "set up a proxy with a certificate, and an address that begins with https://"


class Example(Struct, frozen=True):
    """A setting whose value is suitable only for a trial."""

    setting: str
    consequence: str


def examples_in(settings: Settings) -> list[Example]:
    """Return settings that a service for customers needs but that are not set or still examples."""
    examples = [Example(name, "invoices and e-mails show the built-in example") for name in example_settings(settings)]
    examples += [
        Example(PREFIX + name.upper(), "no mail server delivers to or from localhost")
        for name in ("mail_from", "support_email")
        if parseaddr(getattr(settings, name))[1].rpartition("@")[2] == "localhost"
    ]
    if settings.smtp_url is None:
        examples.append(
            Example(f"{PREFIX}SMTP_URL", f"e-mails are written to {mail_folder(settings)} instead of being sent")
        )
    if settings.base_url is None:
        examples.append(Example(f"{PREFIX}BASE_URL", "links use the host of each request"))
    return examples


def plain_addresses(settings: Settings) -> list[str]:
    """Return the settings with an address over plain HTTP on another machine: browsers keep no session from there."""
    names = ("base_url", "backoffice_url")
    addresses = {f"{PREFIX}{name.upper()}": getattr(settings, name) for name in names}
    return [name for name, address in addresses.items() if address is not None and not is_safe_url(address)]


def log_setting_warnings(settings: Settings) -> None:
    """Log unknown settings, settings that are still examples, and addresses at which nobody can sign in."""
    for name, nearest in unknown_settings():
        log.warning("unknown setting", setting=name, nearest=nearest)
    for example in examples_in(settings):
        log.warning("setting is still an example", setting=example.setting, consequence=example.consequence)
    for name in plain_addresses(settings):
        log.warning("nobody can sign in over plain HTTP", setting=name, remedy=PLAIN_REMEDY)
