"""Logs warnings at a service's start: unknown settings, and settings that are still examples."""

from dataclasses import dataclass
from email.utils import parseaddr

import structlog

from tradecounter.letterhead.seller import example_settings
from tradecounter.notifications.transport import mail_folder
from tradecounter.settings import PREFIX, Settings, unknown_settings

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Example:
    """A setting whose value is suitable only for a trial."""

    setting: str
    consequence: str


def examples_in(settings: Settings) -> list[Example]:
    """Return settings that a service for customers needs but that are not set or still examples."""
    found = [Example(name, "invoices and e-mails show the built-in example") for name in example_settings(settings)]
    found += [
        Example(PREFIX + name.upper(), "no mail server delivers to or from localhost")
        for name in ("mail_from", "support_email")
        if parseaddr(getattr(settings, name))[1].rpartition("@")[2] == "localhost"
    ]
    if settings.smtp_url is None:
        found.append(
            Example(f"{PREFIX}SMTP_URL", f"e-mails are written to {mail_folder(settings)} instead of being sent")
        )
    if settings.base_url is None:
        found.append(Example(f"{PREFIX}BASE_URL", "links use the host of each request"))
    return found


def log_setting_warnings(settings: Settings) -> None:
    """Log unknown settings and settings that are still examples."""
    for name, nearest in unknown_settings():
        log.warning("unknown setting", setting=name, nearest=nearest)
    for example in examples_in(settings):
        log.warning("setting is still an example", setting=example.setting, consequence=example.consequence)
