"""An issuer of subject tokens: a real HTTP server on loopback with keys of its own, and faults to switch on."""

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from joserfc import jws, jwt
from joserfc.jwk import ECKey, OKPKey, RSAKey

Key = RSAKey | ECKey | OKPKey
Reply = tuple[int, dict[str, str], bytes]

OPENID = "/.well-known/openid-configuration"
OAUTH = "/.well-known/oauth-authorization-server"


def new_key(kind: str = "EC", curve_or_size: Any = "P-256", kid: str = "first", **parameters: Any) -> Any:
    makers: dict[str, Callable[..., Key]] = {
        "RSA": RSAKey.generate_key,
        "EC": ECKey.generate_key,
        "OKP": OKPKey.generate_key,
    }
    return makers[kind](curve_or_size, {"kid": kid, **parameters})


@dataclass
class Issuer:
    """What it publishes, and which paths were requested. `overrides` replace correct responses."""

    url: str
    keys: list[Any] = field(default_factory=lambda: [new_key()])
    metadata_at: str = OPENID
    overrides: dict[str, Reply] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)
    accepted_encodings: set[str | None] = field(default_factory=set)
    open: threading.Event = field(default_factory=threading.Event)

    @property
    def fetches(self) -> int:
        """How often the keys were fetched."""
        return self.paths.count("/keys")

    def metadata(self, **changes: Any) -> dict[str, Any]:
        return {"issuer": self.url, "jwks_uri": f"{self.url}/keys", **changes}

    def publish(self, path: str, document: Any, status: int = 200, **headers: str) -> None:
        """Replace the response to a path."""
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.overrides[path] = (status, headers, body)

    def response(self, path: str) -> Reply:
        self.paths.append(path)
        self.open.wait(timeout=30)
        if path in self.overrides:
            return self.overrides[path]
        if path == self.metadata_at:
            return 200, {}, json.dumps(self.metadata()).encode()
        if path == "/keys":
            keys = [key if isinstance(key, dict | str) else key.as_dict(private=False) for key in self.keys]
            return 200, {}, json.dumps({"keys": keys}).encode()
        return 404, {}, b"{}"

    def token(self, claims: dict[str, Any], *, key: Any = None, alg: str = "ES256", **header: Any) -> str:
        """Sign claims, by default with the first key."""
        key = key or self.keys[0]
        full = {"alg": alg, **({"kid": key.kid} if key.kid else {}), **header}
        kept = {name: value for name, value in full.items() if value is not None}
        return jwt.encode(kept, claims, key, registry=_anything)


class _Anything(jws.JWSRegistry):
    """Signs any claims: a token that a test expects to be rejected must have a valid signature."""

    max_header_length = 100_000
    max_payload_length = 1_000_000

    def __init__(self) -> None:
        super().__init__(strict_check_header=False)

    def check_header(self, header: dict[str, Any]) -> None:
        pass

    def get_alg(self, name: str) -> Any:
        return self.algorithms[name]


_anything = _Anything()


@contextmanager
def running_issuer(path: str = "", *, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> Iterator[Issuer]:
    """Run an issuer while the block runs; its URL has the host and path given, and is https with `tls`."""
    issuer = Issuer("")
    issuer.open.set()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            issuer.accepted_encodings.add(self.headers["Accept-Encoding"])
            status, headers, body = issuer.response(self.path)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        issuer.url = f"{'https' if tls else 'http'}://{host}:{server.server_port}{path}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield issuer
        finally:
            issuer.open.set()
            server.shutdown()
            thread.join()
