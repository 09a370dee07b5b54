"""The mail settings are checked before any e-mail is sent, and messages contain no secrets."""

from pathlib import Path

import pytest

from tradecounter.notifications.context import MailSettings
from tradecounter.notifications.transport import MailFolder, MailServer, transport_for
from tradecounter.settings import Settings, SettingsError


def test_without_a_mail_server_mails_are_written_to_a_folder() -> None:
    assert isinstance(transport_for(Settings(data_dir=Path("x"))), MailFolder)
    assert isinstance(transport_for(Settings(smtp_url="smtps://mail.example")), MailServer)


def test_an_invalid_port_is_rejected_without_the_password() -> None:
    with pytest.raises(SettingsError, match="TRADECOUNTER_SMTP_URL: the port must be") as raised:
        transport_for(Settings(smtp_url="smtp://user:Sesame@mail.example:99999"))
    assert raised.value.__suppress_context__
    assert "Sesame" not in str(raised.value)


@pytest.mark.parametrize("setting", ["mail_from", "support_email"])
@pytest.mark.parametrize("address", ["a..b@x.example", "Ada <a@x..example>", "a@[127.0.0.1]"])
def test_an_invalid_mail_server_url_is_rejected(setting: str, address: str) -> None:
    with pytest.raises(SettingsError, match=f"TRADECOUNTER_{setting.upper()}: "):
        MailSettings.from_settings(Settings(**{setting: address}))  # type: ignore[arg-type]
