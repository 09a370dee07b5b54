"""Reading the issuer's documents needs little memory and reaches no other service on this machine."""

import asyncio
import gzip
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.certificates import make_certificate, server_side
from support.issuer import OPENID, Issuer, running_issuer
from support.names import names_of_this_machine
from tradecounter.identity.oauth.issuer import IssuerAwayError, read_issuer
from tradecounter.kit.trusted_authorities import trusted_authorities

LOGIN = "login.example"


@pytest.fixture
def certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A certificate for `login.example` that this process trusts; the name resolves to loopback."""
    file = make_certificate(tmp_path, LOGIN, "localhost")
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    trusted_authorities.cache_clear()
    with names_of_this_machine(LOGIN):
        yield file
    trusted_authorities.cache_clear()


def test_documents_are_requested_without_compression() -> None:
    with running_issuer() as issuer:
        assert len(asyncio.run(read_issuer(issuer.url)).keys) == 1
        assert issuer.paths == [OPENID, "/keys"]
        assert issuer.accepted_encodings == {"identity"}


def assert_rejected_cheaply(issuer: Issuer, reason: str) -> None:
    """Check that the issuer is rejected and that this takes little memory."""
    tracemalloc.start()
    try:
        with pytest.raises(IssuerAwayError, match=reason):
            asyncio.run(read_issuer(issuer.url))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000


def test_a_compressed_document_is_rejected_unread() -> None:
    with running_issuer() as issuer:
        issuer.publish(OPENID, gzip.compress(bytes(100_000_000)), Content_Encoding="gzip")
        assert_rejected_cheaply(issuer, "compressed")


@pytest.mark.parametrize("path", [OPENID, "/keys"])
def test_a_document_is_read_up_to_its_maximum_length(path: str) -> None:
    with running_issuer() as issuer:
        _, _, document = issuer.response(path)
        issuer.publish(path, document + b" " * 50_000_000)
        assert_rejected_cheaply(issuer, "longer than 262144 bytes")


@pytest.mark.parametrize("host", [LOGIN, "localhost", "127.0.0.1"])
def test_plain_http_is_accepted_only_for_an_issuer_on_this_machine(certificate: Path, host: str) -> None:
    with running_issuer(host=host, tls=server_side(certificate)) as issuer, running_issuer() as inner:
        issuer.publish(OPENID, issuer.metadata(jwks_uri=f"{inner.url}/keys"))
        if host == LOGIN:
            with pytest.raises(IssuerAwayError, match="jwks_uri"):
                asyncio.run(read_issuer(issuer.url))
            assert inner.paths == []
        else:
            assert len(asyncio.run(read_issuer(issuer.url)).keys) == 1


def test_a_remote_issuer_is_read_over_https(certificate: Path) -> None:
    with running_issuer(host=LOGIN, tls=server_side(certificate)) as issuer:
        assert asyncio.run(read_issuer(issuer.url)).name == issuer.url
