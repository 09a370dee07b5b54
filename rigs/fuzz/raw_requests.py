"""Sound requests in raw HTTP, drawn at random.

Every request has an id of its own (`X-Request-Id`). Bodies hold texts that would be requests elsewhere, with other
ids: no response may have one of those.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from zlib import crc32

from support.shop import ADDRESS, STANDARD, order

HIDDEN = "hidden"
TRAILER = "trailer"

OK = frozenset({200})


def checked_id(text: str) -> str:
    """Return an id with a checksum, so that a mutated id is not taken for another one."""
    return f"{text}-{crc32(text.encode()):08x}"


def is_checked(found: str) -> bool:
    """Whether an id is one that was given, and not a mutated one."""
    return checked_id(found.rpartition("-")[0]) == found


@dataclass(frozen=True)
class Buyer:
    """A customer of the fuzzed service: its key, the address that its account shows, and that of a user."""

    key: str
    email: str
    user: str


@dataclass(frozen=True)
class RawRequest:
    """A request in parts. `expected` are the statuses that are right for it, and `holds` is in the body of a 200."""

    id: str
    method: str
    target: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    version: str = "HTTP/1.1"
    expected: frozenset[int] = OK
    holds: bytes = b""

    @property
    def closes(self) -> bool:
        """Whether nothing can follow on the connection."""
        return self.version == "HTTP/1.0" or ("Connection", "close") in self.headers

    @property
    def head(self) -> bytes:
        """The request line and the headers, with the empty line."""
        lines = [f"{self.method} {self.target} {self.version}", *(f"{name}: {value}" for name, value in self.headers)]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")

    @property
    def data(self) -> bytes:
        """The bytes of the request."""
        return self.head + self.body


class Generator:
    """Draws requests of one conversation."""

    def __init__(self, chance: Random, name: str, buyers: Sequence[Buyer]) -> None:
        self.chance = chance
        self.name = name
        self.buyers = buyers
        self.hidden: list[str] = []
        self._count = 0

    def request(self) -> RawRequest:
        """Return a sound request with the next id."""
        self._count += 1
        buyer = self.chance.choice(self.buyers)
        base = RawRequest(checked_id(f"{self.name}.{self._count}"), "GET", "/")
        made = self.chance.choice(_KINDS)(self, base, buyer)
        headers = [("Host", "shop.example"), ("X-Request-Id", made.id), *made.headers]
        if self.chance.random() < 0.2:
            headers.insert(1, ("X-Forwarded-For", "203.0.113.7"))
        if self.chance.random() < 0.2:
            headers.append(("Accept-Encoding", self.chance.choice(["gzip", "zstd, gzip", "br;q=0.5", "identity"])))
        if self.chance.random() < 0.1:
            headers.append(("Cookie", "c=" + "x" * self.chance.randrange(4000)))
        if self.chance.random() < 0.2:
            headers = [(self.chance.choice([name.lower(), name.upper()]), value) for name, value in headers]
        return replace(made, headers=tuple(headers))

    def hidden_request(self) -> bytes:
        """Return a text that would be a request where one could begin; its id must never be seen in a response."""
        self.hidden.append(checked_id(f"{self.name}.{HIDDEN}{len(self.hidden)}"))
        key = self.chance.choice(self.buyers).key
        headers = f"Host: shop.example\r\nX-Api-Key: {key}\r\nX-Request-Id: {self.hidden[-1]}"
        return f"GET /customer HTTP/1.1\r\n{headers}\r\n\r\n".encode()

    def trailer_id(self) -> str:
        """Return an id for a field behind the last chunk; it must never be seen in a response."""
        self._count += 1
        return checked_id(f"{self.name}.{TRAILER}{self._count}")

    def chunked(self, body: bytes) -> bytes:
        """Return a body in chunks, at times with extensions, and with trailers that mean nothing to the service."""
        written, rest = b"", body
        while rest:
            size = self.chance.randint(1, len(rest))
            extension = self.chance.choice([b"", b"", b";a=1", b';name="quoted; text"', b";flag"])
            written += b"%x%b\r\n%b\r\n" % (size, extension, rest[:size])
            rest = rest[size:]
        fields = [
            "X-Checksum: 1",
            f"X-Request-Id: {self.trailer_id()}",
            "Connection: close",
            "X-Forwarded-For: 203.0.113.9",
        ]
        trailers = self.chance.sample(fields, self.chance.choice([0, 0, 1, 2]))
        return written + "\r\n".join(["0", *trailers, "", ""]).encode()


def _account(_: Generator, base: RawRequest, buyer: Buyer) -> RawRequest:
    return replace(base, target="/customer", headers=(("X-Api-Key", buyer.key),), holds=buyer.email.encode())


def _read(generator: Generator, base: RawRequest, buyer: Buyer) -> RawRequest:
    targets = [
        "/product?limit=2",
        "/product/CABLE",
        "/manufacturer",
        "/order?limit=3",
        "/order?limit=0&accept=text/csv",
    ]
    targets += ["/product?query=cable", "/customer/credit", "/customer/address", f"/product?limit=1&x={base.id}"]
    headers = (("X-Api-Key", buyer.key), ("Accept", generator.chance.choice(["application/json", "text/csv", "*/*"])))
    return replace(base, target=generator.chance.choice(targets), headers=headers)


def _public(generator: Generator, base: RawRequest, _: Buyer) -> RawRequest:
    return replace(base, target=generator.chance.choice(["/", "/check-health", "/openapi.yaml"]))


def _without_body(generator: Generator, base: RawRequest, buyer: Buyer) -> RawRequest:
    if generator.chance.random() < 0.5:
        return replace(base, method="HEAD", target="/product?limit=2", headers=(("X-Api-Key", buyer.key),))
    return replace(base, method="OPTIONS", target="/order", expected=frozenset({204}))


def _rejected(generator: Generator, base: RawRequest, buyer: Buyer) -> RawRequest:
    cases: list[tuple[str, str, tuple[tuple[str, str], ...], int]] = [
        ("GET", f"/nowhere/{base.id}", (), 404),
        ("DELETE", "/customer", (), 405),
        ("GET", "/customer", (), 401),
        ("GET", "/customer", (("X-Api-Key", "0" * 64),), 401),
        ("GET", "/product?sort=nothing", (("X-Api-Key", buyer.key),), 400),
    ]
    method, target, headers, status = generator.chance.choice(cases)
    return replace(base, method=method, target=target, headers=headers, expected=frozenset({status}))


def _with_body(generator: Generator, base: RawRequest, buyer: Buyer) -> RawRequest:
    chance = generator.chance
    target, body, expected = chance.choice(
        [
            ("/order", order(), {201}),
            ("/order", order(auto_confirm=True, shipping_method={"id": STANDARD}), {201}),
            ("/customer/address", ADDRESS, {201}),
            ("/customer/address", {**ADDRESS, "city": generator.hidden_request().decode()}, {201, 400}),
            ("/order", {"hidden": generator.hidden_request().decode()}, {400}),
        ]
    )
    data = json.dumps(body, indent=None if chance.random() < 0.5 else 1).encode()
    if chance.random() < 0.2:
        data, expected = generator.hidden_request(), {400}
    headers = [("X-Api-Key", buyer.key), ("Content-Type", "application/json")]
    if chance.random() < 0.2:
        headers.append(("Idempotency-Key", base.id))
    if chance.random() < 0.1:
        headers.append(("Expect", "100-continue"))
    if chance.random() < 0.5:
        headers.append(("Transfer-Encoding", "chunked"))
        data = generator.chunked(data)
    else:
        headers.append(("Content-Length", str(len(data))))
    made = replace(base, method="POST", target=target, headers=tuple(headers), body=data)
    return replace(made, expected=frozenset(expected))


def _read_with_body(generator: Generator, base: RawRequest, buyer: Buyer) -> RawRequest:
    body = generator.hidden_request()
    headers = (("X-Api-Key", buyer.key), ("Content-Length", str(len(body))))
    return replace(base, target="/customer", headers=headers, body=body, holds=buyer.email.encode())


_KINDS = (_account, _account, _read, _read, _public, _without_body, _rejected, _with_body, _with_body, _read_with_body)
