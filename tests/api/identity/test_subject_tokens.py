"""Which subject tokens are valid: signature, issuer, audience, times, customer, application."""

import base64
import hmac
import json
from collections.abc import Iterator
from typing import Any

import pytest
from joserfc import jws
from joserfc.jwk import ECKey
from structlog.testing import capture_logs

from support.applications import Exchange, assert_rejected, register, running_exchange
from support.issuer import new_key
from support.service import running_service


@pytest.fixture(scope="module")
def exchange(database_url: str) -> Iterator[Exchange]:
    with running_exchange(database_url) as running:
        running.issuer.keys = [
            new_key("EC", "P-256", "first"),
            new_key("RSA", 2048, "rsa"),
            new_key("EC", "P-384", "p384"),
            new_key("EC", "P-521", "p521"),
            new_key("OKP", "Ed25519", "ed"),
            new_key("EC", "P-256", "for-encryption", use="enc"),
            new_key("EC", "P-256", "marked", use="sig", alg="ES256"),
            {"kty": "oct", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0", "kid": "shared"},
            {"kty": "AKP", "kid": "of-the-future", "pub": "AAAA"},
            {"kty": "RSA", "kid": "tiny", "n": "AQAB", "e": "AQAB"},
            {"kty": "EC", "kid": "broken"},
            "not a key",
        ]
        yield running


def key(exchange: Exchange, kid: str) -> Any:
    return next(k for k in exchange.issuer.keys if not isinstance(k, str | dict) and k.kid == kid)


def assert_token_rejected(exchange: Exchange, token: str) -> None:
    response = exchange.exchange(token)
    assert_rejected(response, "invalid_grant")
    assert response.json() == {"error": "invalid_grant"}, "no detail"


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize(
    ("alg", "kid"),
    [
        *((alg, "rsa") for alg in ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")),
        ("ES256", "first"), ("ES256", "marked"), ("ES384", "p384"), ("ES512", "p521"),
        ("EdDSA", "ed"), ("Ed25519", "ed"),
    ],
)  # fmt: skip
def test_every_asymmetric_algorithm_is_accepted(exchange: Exchange, alg: str, kid: str) -> None:
    assert exchange.exchange(exchange.subject_token(alg=alg, key=key(exchange, kid))).status_code == 200


@pytest.mark.sweep(every=8)
@pytest.mark.spec("4 POST /oauth/token", "a subject token that is not the issuer's is invalid_grant, without detail")
@pytest.mark.parametrize(
    "changes",
    [
        {"iss": None}, {"iss": "https://other.example"}, {"iss": 7}, {"iss": ["x"]}, {"iss": ""},
        {"aud": None}, {"aud": "https://other.example"}, {"aud": []}, {"aud": ["x", "y"]}, {"aud": 7},
        {"aud": {}}, {"aud": [7]},
        {"exp": None}, {"exp": "never"}, {"exp": True}, {"exp": []}, {"exp": 0}, {"exp": -1}, {"exp": float("nan")},
        {"exp": float("inf")}, {"nbf": "x"}, {"nbf": 10**12}, {"nbf": 10**400}, {"iat": 10**12}, {"iat": "x"},
        {"sub": None}, {"sub": ""}, {"sub": "0"}, {"sub": "-1"}, {"sub": "01001"}, {"sub": "1001 "}, {"sub": "x"},
        {"sub": "9" * 18}, {"sub": "1" * 400},
        {"sub": "\N{SUPERSCRIPT TWO}"}, {"sub": "\N{ARABIC-INDIC DIGIT ONE}"}, {"sub": "1\n"},
        {"sub": 1001}, {"sub": "1.0"},
        {"client_id": None}, {"client_id": ""}, {"client_id": "another"}, {"client_id": 7}, {"client_id": ["x"]},
        {"azp": "another"}, {"client_id": None, "azp": "another"},
    ],
)  # fmt: skip
def test_a_token_with_a_wrong_or_missing_claim_is_rejected(exchange: Exchange, changes: dict[str, Any]) -> None:
    assert_token_rejected(exchange, exchange.subject_token(**changes))


def test_equivalent_claims_are_accepted(exchange: Exchange) -> None:
    mine = exchange.application.client_id
    moment = exchange.service.clock.now().timestamp()
    changed: list[dict[str, Any]] = [
        {"aud": ["https://other.example", exchange.service.url]},
        {"client_id": None, "azp": mine},
        {"azp": mine},
        {"iat": None},
        {"exp": moment + 0.5, "iat": moment - 0.5},
        {"nbf": moment},
        {"exp": 10**400},
        {"scope": "orders", "nested": {"a": [1, None]}, "jti": "x"},
    ]
    for changes in changed:
        assert exchange.exchange(exchange.subject_token(**changes)).status_code == 200, changes


def test_times_have_a_leeway_of_sixty_seconds(exchange: Exchange) -> None:
    moment = int(exchange.service.clock.now().timestamp())
    for claim, last_good, step in (("exp", moment - 59, -1), ("nbf", moment + 60, 1), ("iat", moment + 60, 1)):
        good: dict[str, Any] = {claim: last_good}
        bad: dict[str, Any] = {claim: last_good + step}
        assert exchange.exchange(exchange.subject_token(**good)).status_code == 200, claim
        assert_token_rejected(exchange, exchange.subject_token(**bad))


def test_consent_to_another_application_is_rejected(exchange: Exchange) -> None:
    other = register(exchange.service, "other")
    assert_token_rejected(exchange, exchange.subject_token(client_id=other.client_id))


@pytest.mark.spec("4 POST /oauth/token", "a subject token that is not the issuer's is invalid_grant, without detail")
def test_an_unsigned_token_is_rejected(exchange: Exchange) -> None:
    for alg in ("none", "None", "NONE", "", None, ["ES256"], 7):
        for signature in ("", "AAAA"):
            assert_token_rejected(
                exchange, f"{encoded({'alg': alg, 'kid': 'first'})}.{encoded(exchange.claims())}.{signature}"
            )
    assert_token_rejected(exchange, f"{encoded({'kid': 'first'})}.{encoded(exchange.claims())}.")


SIGNED = {"RS256": "rsa", "PS512": "rsa", "ES256": "first", "ES384": "p384", "ES512": "p521", "EdDSA": "ed"}


@pytest.mark.spec("4 POST /oauth/token", "a subject token that is not the issuer's is invalid_grant, without detail")
@pytest.mark.parametrize(("alg", "kid"), SIGNED.items())
def test_a_right_token_with_a_wrong_signature_is_rejected(exchange: Exchange, alg: str, kid: str) -> None:
    own = key(exchange, kid)
    head, body, signature = exchange.subject_token(alg=alg, key=own).split(".")
    other_head, other_body, other_signature = exchange.subject_token(alg=alg, key=own, jti="another").split(".")
    assert exchange.exchange(f"{other_head}.{other_body}.{other_signature}").status_code == 200
    raw = bytearray(base64.urlsafe_b64decode(signature + "=="))
    raw[len(raw) // 2] ^= 1
    flipped = base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
    for wrong in (other_signature, flipped, signature[: len(signature) // 2], signature * 2, "", "AAAA"):
        assert_token_rejected(exchange, f"{head}.{body}.{wrong}")
    assert exchange.exchange(f"{head}.{body}.{signature}").status_code == 200


@pytest.mark.spec("4 POST /oauth/token", "a subject token that is not the issuer's is invalid_grant, without detail")
@pytest.mark.parametrize(
    ("alg", "kid", "forged"),
    [
        ("ES256", "first", new_key("EC", "P-256", "first")),
        ("RS256", "rsa", new_key("RSA", 2048, "rsa")),
        ("EdDSA", "ed", new_key("OKP", "Ed25519", "ed")),
    ],
)
def test_another_key_with_the_name_of_the_issuers_is_rejected(
    exchange: Exchange, alg: str, kid: str, forged: Any
) -> None:
    assert exchange.exchange(exchange.subject_token(alg=alg, key=key(exchange, kid))).status_code == 200
    assert_token_rejected(exchange, exchange.subject_token(alg=alg, key=forged))


def encoded(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


@pytest.mark.spec("4 POST /oauth/token", "a subject token that is not the issuer's is invalid_grant, without detail")
@pytest.mark.parametrize("bits", ["256", "384", "512"])
def test_a_token_signed_with_the_public_key_as_secret_is_rejected(exchange: Exchange, bits: str) -> None:
    """A library that trusted the token's algorithm would use the public key as an HMAC secret."""
    secrets = {"shared": base64.urlsafe_b64decode(exchange.issuer.keys[7]["k"])}
    for kid in ("rsa", "first"):
        public = key(exchange, kid)
        secrets[kid] = public.as_pem(private=False)
        assert_token_rejected(
            exchange, signed_with_secret(exchange, bits, kid, json.dumps(public.as_dict(private=False)).encode())
        )
    for kid, secret in secrets.items():
        assert_token_rejected(exchange, signed_with_secret(exchange, bits, kid, secret))


def signed_with_secret(exchange: Exchange, bits: str, kid: str, secret: bytes) -> str:
    text = f"{encoded({'alg': f'HS{bits}', 'kid': kid})}.{encoded(exchange.claims())}"
    signature = hmac.digest(secret, text.encode(), f"sha{bits}")
    return f"{text}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def test_keys_in_the_token_are_ignored(exchange: Exchange) -> None:
    mine = new_key("EC", "P-256", "mine")
    public = mine.as_dict(private=False)
    exchange.issuer.publish("/mine", {"keys": [public]})
    requests = len(exchange.issuer.paths)
    for header in (
        {"jwk": public},
        {"jku": f"{exchange.issuer.url}/mine"},
        {"x5u": f"{exchange.issuer.url}/mine"},
        {"x5c": ["MIIB"]},
        {"jwk": public, "kid": "first"},
        {"kid": "first"},
        {"kid": None},
        {"kid": None, "jwk": public},
    ):
        assert_token_rejected(exchange, exchange.subject_token(key=mine, header=header))
    assert "/mine" not in exchange.issuer.paths[requests:]


@pytest.mark.parametrize(
    "header",
    [
        {"crit": ["exp"], "exp": 1}, {"crit": []}, {"crit": ["b64"], "b64": True}, {"crit": "x"}, {"crit": None},
        {"b64": True}, {"b64": False, "crit": ["b64"]}, {"kid": 7}, {"kid": ["first"]}, {"kid": {}},
        {"typ": "at+jwt"}, {"typ": "logout+jwt"}, {"typ": "application/at+jwt"}, {"typ": "xJWT"}, {"typ": "JWT "},
        {"typ": ""}, {"typ": None}, {"typ": 7}, {"typ": ["JWT"]}, {"typ": "text/JWT"}, {"typ": "application/"},
        {"alg": "ES256K"}, {"alg": "RS256"}, {"alg": "ES384"}, {"alg": "dir"}, {"alg": "es256"},
    ],
)  # fmt: skip
def test_a_token_with_an_unknown_critical_header_is_rejected(exchange: Exchange, header: dict[str, Any]) -> None:
    first = key(exchange, "first")
    head = encoded({"alg": "ES256", "kid": "first", **header})
    body = encoded(exchange.claims())
    algorithm = jws.JWSRegistry.algorithms["ES256"]
    signature = base64.urlsafe_b64encode(algorithm.sign(f"{head}.{body}".encode(), first)).rstrip(b"=").decode()
    assert_token_rejected(exchange, f"{head}.{body}.{signature}")


def test_unknown_header_parameters_are_ignored(exchange: Exchange) -> None:
    for header in ({"x5t": "abc", "nonce": "n"}, {"x-anything": {"a": 1}}, {"cty": "JWT"}):
        assert exchange.exchange(exchange.subject_token(header=header)).status_code == 200, header


def test_a_tokens_type_may_be_jwt_or_consent(exchange: Exchange) -> None:
    for name in ("JWT", "jwt", "consent+jwt", "Consent+JWT", "application/JWT", "application/consent+jwt"):
        assert exchange.exchange(exchange.subject_token(header={"typ": name})).status_code == 200, name


def test_a_key_for_another_use_or_algorithm_is_not_used(exchange: Exchange) -> None:
    for_encryption = ECKey.import_key({**key(exchange, "for-encryption").as_dict(private=True), "use": "sig"})
    assert_token_rejected(exchange, exchange.subject_token(key=for_encryption))
    assert_token_rejected(
        exchange, exchange.subject_token(alg="ES384", key=key(exchange, "p384"), header={"kid": "p521"})
    )
    assert_token_rejected(exchange, exchange.subject_token(key=new_key("EC", "P-256", "never-published")))


def test_a_modified_token_is_rejected(exchange: Exchange) -> None:
    head, body, signature = exchange.subject_token().split(".")
    other = encoded(exchange.claims(sub="1"))
    for changed in (
        f"{head}.{other}.{signature}",
        f"{head}.{body}.{signature[:-2]}",
        f"{head}.{body}.",
        f"{head}.{body}.{signature}.",
        f"{head}.{body}",
        f"{head}..{signature}",
        f".{body}.{signature}",
        f"{head}={''}.{body}.{signature}=",
        f"{head}.{body}.{signature} ",
        f" {head}.{body}.{signature}",
        f"{encoded(['ES256'])}.{body}.{signature}",
        f"{encoded(['alg'])}.{body}.{signature}",
        f"{encoded('alg')}.{body}.{signature}",
        f"{encoded('x')}.{body}.{signature}",
        f"{'x' * 40_000}.{body}.{signature}",
        f"{head}.{'[' * 1000}.{signature}",
        "é.é.é",
        f"{head}.{body}.{'A' * 5000}",
    ):
        assert_token_rejected(exchange, changed)


@pytest.mark.parametrize("payload", [b"", b"[]", b"7", b'"x"', b"null", b"{", b"\xff", b"[" * 5000, b'{"iss": "x"}'])
def test_a_payload_without_valid_claims_is_rejected(exchange: Exchange, payload: bytes) -> None:
    first = key(exchange, "first")
    assert_token_rejected(exchange, jws.serialize_compact({"alg": "ES256", "kid": "first"}, payload, first))


def test_without_a_configured_issuer_every_token_is_rejected(exchange: Exchange) -> None:
    with running_service(exchange.service.database_url) as alone:
        fields = exchange.form(subject_token=exchange.subject_token(aud=alone.url))
        assert_rejected(alone.client().post("/oauth/token", data=fields, auth=exchange.basic), "invalid_grant")


def test_the_reason_of_a_rejection_is_logged_without_the_token(exchange: Exchange) -> None:
    reasons: dict[str, dict[str, Any]] = {
        f"iss: must be {exchange.issuer.url}": {"iss": "https://other.example"},
        f"aud: must contain {exchange.service.url}": {"aud": "x"},
        "client_id, azp: must name the application that exchanges the token": {"azp": "another"},
        "exp: the token has expired": {"exp": 0},
        "nbf: the token is not valid yet": {"nbf": 10**12},
        "iat: must not be in the future": {"iat": 10**12},
        "sub: must be a customer's id, as a string": {"sub": "x"},
        "sub: customer 999999999 does not exist, or is blocked": {"sub": "999999999"},
        "the claims cannot be read: Object missing required field `exp`": {"exp": None},
    }
    for reason, changes in reasons.items():
        token = exchange.subject_token(**changes)
        with capture_logs() as logged:
            assert_token_rejected(exchange, token)
        assert logged == [
            {
                "event": "subject token rejected",
                "log_level": "info",
                "client_id": exchange.application.client_id,
                "reason": reason,
            }
        ]
    with capture_logs() as logged:
        assert_token_rejected(exchange, signed_with_secret(exchange, "256", "first", b"secret"))
        assert_token_rejected(exchange, exchange.subject_token(key=new_key("EC", "P-256", "first")))
        assert_token_rejected(exchange, "x.y.z")
    assert [entry["reason"].split(" ")[0:3] for entry in logged] == [
        ["alg:", "must", "be"],
        ["must", "be", "signed"],
        ["must", "be", "a"],
    ]
