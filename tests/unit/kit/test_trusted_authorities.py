"""What HTTP clients trust is read once, and checks certificates."""

import ssl

from support.receiver import sender
from tradecounter.kit.trusted_authorities import trusted_authorities


def test_certificates_and_host_names_are_checked() -> None:
    assert trusted_authorities().verify_mode == ssl.CERT_REQUIRED
    assert trusted_authorities().check_hostname


def test_all_senders_of_webhooks_share_it() -> None:
    assert sender().tls is sender().tls is trusted_authorities()
