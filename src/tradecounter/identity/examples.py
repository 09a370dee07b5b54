"""Examples of the token endpoint's form and response, for the interface document."""

from tradecounter.identity.wire import ACCESS_TOKEN, GRANT_TYPE, AccessToken, TokenRequest

TOKEN_REQUEST = TokenRequest(
    grant_type=GRANT_TYPE,
    subject_token="eyJhbGciOiJFUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiIxMDAxIn0.c2lnbmF0dXJl",
    subject_token_type="urn:ietf:params:oauth:token-type:jwt",
)
TOKEN = AccessToken(access_token="0f" * 32, issued_token_type=ACCESS_TOKEN, token_type="Bearer", expires_in=3600)
