"""How a client proves for whom it acts: an API key, or a customer's consent to an application."""

import base64
import threading
import time
from collections.abc import Callable
from typing import Protocol
from urllib.parse import quote_plus, urlencode

import msgspec

from tradecounter_client.base import from_json
from tradecounter_client.errors import ConsentEnded
from tradecounter_client.models import AccessToken, ConsentToken, OAuthError
from tradecounter_client.transport import Response, Transport

_EARLY = 60.0  # seconds before its end in which a token is not used any more
_ENDED = "invalid_grant"
_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
_JWT = "urn:ietf:params:oauth:token-type:jwt"


class Credentials(Protocol):
    """What authenticates requests."""

    def headers(self, transport: Transport) -> dict[str, str]:
        """The headers of a request, which may need a request of its own."""

    def renew(self) -> bool:
        """Forget what was rejected; whether another attempt is of use."""


class Key:
    """An API key."""

    def __init__(self, key: str) -> None:
        self._headers = {"X-Api-Key": key}

    def headers(self, transport: Transport) -> dict[str, str]:
        return self._headers

    def renew(self) -> bool:
        return False


class Consent:
    """A customer's consent to an application, kept alive by its refresh token.

    Each refresh token is good once. `save` gets the next one and must store it before it returns: with the old one,
    a restarted program would end the consent.
    """

    def __init__(self, client_id: str, client_secret: str, refresh_token: str, save: Callable[[str], object]) -> None:
        pair = f"{quote_plus(client_id)}:{quote_plus(client_secret)}"
        self._basic = {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
        self._refresh_token, self._save = refresh_token, save
        self._token, self._ends = "", 0.0
        self._lock = threading.Lock()

    def headers(self, transport: Transport) -> dict[str, str]:
        with self._lock:
            if time.monotonic() >= self._ends - _EARLY:
                self._refresh(transport)
            return {"Authorization": f"Bearer {self._token}"}

    def renew(self) -> bool:
        with self._lock:
            self._ends = 0.0
        return True

    def _refresh(self, transport: Transport) -> None:
        fields = {"grant_type": "refresh_token", "refresh_token": self._refresh_token}
        consent = self._post(transport, "/auth/token", fields).made(ConsentToken)
        self._refresh_token = consent.refresh_token  # also if it cannot be stored: the next request stores another
        self._save(consent.refresh_token)
        asked = time.monotonic()
        fields = {"grant_type": _EXCHANGE, "subject_token": consent.access_token, "subject_token_type": _JWT}
        token = self._post(transport, "/oauth/token", fields).made(AccessToken)
        self._token, self._ends = token.access_token, asked + token.expires_in

    def _post(self, transport: Transport, path: str, fields: dict[str, str]) -> Response:
        """Post a form, again after a lost response: if the token was used up, the consent is lost either way."""
        headers = {**self._basic, "Content-Type": "application/x-www-form-urlencoded"}
        response = transport.send("POST", path, headers, urlencode(fields).encode(), repeatable=True)
        if _error_in(response) == _ENDED:
            raise ConsentEnded(response.body.decode(errors="replace"))
        return response.checked()


def _error_in(response: Response) -> str:
    """The error of OAuth, if there is one."""
    try:
        return from_json(response.body, OAuthError).error
    except msgspec.MsgspecError:
        return ""
