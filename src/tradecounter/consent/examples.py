"""Examples of the issuer's forms and responses, for the interface document."""

from tradecounter.consent.wire import ConsentRequest, ConsentToken, KeySet, RevocationRequest, metadata
from tradecounter.edge.rest.operation import EXAMPLE_ADDRESS

METADATA = metadata(EXAMPLE_ADDRESS)
KEY_SET = KeySet(
    [
        {
            "kty": "EC",
            "crv": "P-256",
            "x": "g-Sf62yzFBQBEP0Or2SAjG1L8OFOrUfg1jWQuh9dDXc",
            "y": "JM0SWV_yeufx7T8Rcva5g2MmJMiOK-L1PPbTUauHqjU",
            "use": "sig",
            "alg": "ES256",
            "kid": "QOLs5rzYoH-0soFERU620ypVh40Y4wGJkfNTHJ9qCW0",
        }
    ]
)
REQUEST = ConsentRequest(
    grant_type="authorization_code",
    code="1e" * 32,
    redirect_uri="https://erp.example/callback",
    code_verifier="dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
)
REFRESH_REQUEST = ConsentRequest(grant_type="refresh_token", refresh_token="2d" * 32)
CONSENT = ConsentToken(
    "eyJhbGciOiJFUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiIxMDAxIn0.c2lnbmF0dXJl",
    "Bearer",
    600,
    refresh_token="2d" * 32,
    issued_token_type="urn:ietf:params:oauth:token-type:jwt",
)
AGENT_TOKEN = ConsentToken("4c" * 32, "Bearer", 3600, refresh_token="2d" * 32, scope="read order")
REVOCATION = RevocationRequest(token="2d" * 32)
