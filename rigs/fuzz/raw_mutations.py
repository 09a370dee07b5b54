"""What can be wrong with a request in raw HTTP: its bytes, its head, its framing, or what follows the last chunk."""

from collections.abc import Callable
from dataclasses import replace

from rigs.fuzz.raw_requests import Generator, RawRequest

Mutation = Callable[[Generator, RawRequest], bytes]

_NOISE = (
    b"\x00",
    b"\r\n",
    b"\n",
    b"\r",
    b" ",
    b"\t",
    b":",
    b"\xff",
    b"\x16\x03\x01",
    b"HTTP/1.1",
    b"0\r\n\r\n",
    b"%00",
    b";",
)
_BIG = 8_000_000  # bytes: many times what any head or body may have


def flipped(generator: Generator, request: RawRequest) -> bytes:
    """Some bytes are changed."""
    data = bytearray(request.data)
    for _ in range(generator.chance.randint(1, 6)):
        data[generator.chance.randrange(len(data))] = generator.chance.randrange(256)
    return bytes(data)


def rearranged(generator: Generator, request: RawRequest) -> bytes:
    """A stretch is missing, repeated or moved."""
    data, chance = request.data, generator.chance
    start = chance.randrange(len(data))
    end = min(len(data), start + chance.randint(1, 80))
    piece, rest = data[start:end], data[:start] + data[end:]
    place = chance.choice([None, start, chance.randrange(len(rest) + 1)])
    if place is None:
        return rest
    return (data if chance.random() < 0.5 else rest)[:place] + piece + rest[place:]


def disturbed(generator: Generator, request: RawRequest) -> bytes:
    """Some bytes are inserted."""
    data, chance = request.data, generator.chance
    for _ in range(chance.randint(1, 3)):
        place = chance.randrange(len(data) + 1)
        data = data[:place] + chance.choice(_NOISE) * chance.choice([1, 1, 1, 50]) + data[place:]
    return data


def cut(generator: Generator, request: RawRequest) -> bytes:
    """The end is missing."""
    return request.data[: generator.chance.randrange(len(request.data))]


def preceded(generator: Generator, request: RawRequest) -> bytes:
    """Some bytes precede the request."""
    before = [
        b"\r\n",
        b"\r\n\r\n\r\n",
        b"\n",
        b" ",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00" * 9,
    ]
    return generator.chance.choice([*before, generator.chance.randbytes(200)]) + request.data


def other_line(generator: Generator, request: RawRequest) -> bytes:
    """The request line is another one."""
    method, target, chance = request.method, request.target, generator.chance
    lines = [
        f"{method} {target} HTTP/1.0", f"{method} {target} HTTP/0.9", f"{method} {target} HTTP/2.0",
        f"{method} {target} HTTP/1.1 ", f"{method}  {target}  HTTP/1.1", f"{method}\t{target}\tHTTP/1.1",
        f"{method} {target}",
        f"{method.lower()} {target} HTTP/1.1", f"BREW {target} HTTP/1.1", "CONNECT shop.example:443 HTTP/1.1",
        f"TRACE {target} HTTP/1.1", f"{method} http://elsewhere.example{target} HTTP/1.1", f"{method} * HTTP/1.1",
        f"{method} {target}#part HTTP/1.1", f"{method} {target}\x00 HTTP/1.1", f"{method} {target}\xff\xfe HTTP/1.1",
        f"{method} /{'a' * chance.choice([3000, 9000, 70_000])} HTTP/1.1", f"{method} {target}%ff%00%2e%2e%2f HTTP/1.1",
        f"{method} //{target}/../.. HTTP/1.1", f"{method} {target}?{'&' * 5000} HTTP/1.1",
    ]  # fmt: skip
    _, _, rest = request.data.partition(b"\r\n")
    return chance.choice(lines).encode("latin-1") + b"\r\n" + rest


def other_headers(generator: Generator, request: RawRequest) -> bytes:
    """A header is missing, repeated, misspelt or too long."""
    chance, headers = generator.chance, list(request.headers)
    place = chance.randrange(len(headers))
    name, value = headers[place]
    changes: list[list[tuple[str, str]]] = [
        [], [(name, value)] * 2, [(name, value), (name, "other")], [(name + " ", value)], [(" " + name, value)],
        [(name, value + "\r\n folded")], [(name, value + "\n" + "X-Api-Key: 1")], [(name, value + "\x00")],
        [(name, "é\xff")], [("", value)], [(name + ":", value)], [(name, value), ("Host", "a" * 300)],
        [(name, value), ("Host", "second.example")], [(name, value), ("Connection", "Upgrade"), ("Upgrade", "h2c")],
        [(name, value), ("Connection", "X-Api-Key, close")], [(name, value), ("Content-Encoding", "gzip")],
        [(name, value), ("Expect", "something")],
        [(name, value), ("X-Long", "a" * chance.choice([9000, 70_000, 300_000]))],
        [(name, value), *([("X-Many", "a")] * chance.choice([90, 2000, 30_000]))],
    ]  # fmt: skip
    headers[place : place + 1] = chance.choice(changes)
    return replace(request, headers=tuple(headers)).data


def other_framing(generator: Generator, request: RawRequest) -> bytes:
    """The body's length is repeated, wrong, or ambiguous."""
    chance = generator.chance
    body = generator.hidden_request() if chance.random() < 0.7 else b"{}"
    lengths = [
        len(body), 0, 5, -1, "+5", "0x5", "5,5", f"{len(body)}, {len(body)}", " 5", "5 ", "5\x0b", "", "\xb2", "1e1",
        "9" * 30, len(body) + 100_000,
    ]  # fmt: skip
    codings = [
        "chunked",
        "Chunked",
        "chunked, chunked",
        "gzip, chunked",
        "identity",
        "x",
        "chunked;q=1",
        " chunked",
        "\x0bchunked",
        "",
    ]
    lines: list[list[tuple[str, object]]] = [
        [("Content-Length", chance.choice(lengths))],
        [("Content-Length", chance.choice(lengths)), ("Content-Length", chance.choice(lengths))],
        [("Content-Length", chance.choice(lengths)), ("Transfer-Encoding", chance.choice(codings))],
        [("Transfer-Encoding", chance.choice(codings)), ("Content-Length", chance.choice(lengths))],
        [("Transfer-Encoding", chance.choice(codings))],
        [("Transfer-Encoding", chance.choice(codings)), ("Transfer-Encoding", chance.choice(codings))],
        [("Transfer-Encoding ", "chunked")],
        [("Transfer\tEncoding", "chunked")],
        [("X: y\nTransfer-Encoding", "chunked")],
    ]
    framed = ("content-length", "transfer-encoding")
    headers = [(name, value) for name, value in request.headers if name.lower() not in framed]
    headers += [(name, str(value)) for name, value in chance.choice(lines)]
    written = body if chance.random() < 0.5 else generator.chunked(body)
    return replace(request, method=chance.choice(["GET", "POST"]), headers=tuple(headers), body=written).data


def other_chunks(generator: Generator, request: RawRequest) -> bytes:
    """A chunk has another size than it says, or says it oddly."""
    chance = generator.chance
    body = generator.hidden_request()
    size = b"%x" % len(body)
    sizes = [
        b"f" * 16, b"f" * 17, b"-" + size, b"0x" + size, b"+" + size, b" " + size, size + b" ", size + b"\t", b"", b"g",
        b"0" * chance.choice([20, 70_000]) + size, size + b";" + b"e" * chance.choice([100, 20_000, _BIG]),
        size + b';"' + b"\\" * 50, size + b";\n", b"%x" % (len(body) + 3), b"%x" % max(0, len(body) - 3), b"1", b"0",
    ]  # fmt: skip
    ends = [b"\r\n", b"\r\n", b"\n", b"\r", b"", b"\r\n\r\n"]
    written = (
        chance.choice(sizes) + chance.choice(ends) + body + chance.choice(ends) + b"0" + chance.choice(ends) + b"\r\n"
    )
    return _chunked(request, written)


def with_trailers(generator: Generator, request: RawRequest) -> bytes:
    """Fields follow the last chunk."""
    chance = generator.chance
    key = chance.choice(generator.buyers).key
    fields = [
        f"X-Api-Key: {key}".encode(), f"X-Request-Id: {generator.trailer_id()}".encode(),
        b"X-Forwarded-For: 203.0.113.9", b"Content-Length: 5", b"Transfer-Encoding: chunked",
        b"Host: other.example", b"Connection: close", b"a: b",
        b" folded", b"no colon", b"X-Long: " + b"a" * chance.choice([100, 70_000, _BIG]),
        b"\r\n".join([b"a:b"] * chance.choice([10, 10_000, _BIG // 5])),
        generator.hidden_request().removesuffix(b"\r\n\r\n"),
    ]  # fmt: skip
    trailers = chance.sample(fields, chance.randint(1, 4))
    end = chance.choice([b"\r\n\r\n", b"\r\n\r\n", b"\r\n\r\n", b"\n\n", b""])
    return _chunked(request, b"2\r\n{}\r\n0\r\n" + b"\r\n".join(trailers) + end)


def with_key_in_trailers(generator: Generator, request: RawRequest) -> bytes:
    """The credential follows the last chunk, where it does not count."""
    key = generator.chance.choice(generator.buyers).key
    headers = [(name, value) for name, value in request.headers if name.lower() != "x-api-key"]
    trailers = f"X-Api-Key: {key}\r\nX-Request-Id: {generator.trailer_id()}\r\n\r\n".encode()
    return _chunked(replace(request, headers=tuple(headers)), b"2\r\n{}\r\n0\r\n" + trailers)


def _chunked(request: RawRequest, body: bytes) -> bytes:
    framed = ("content-length", "transfer-encoding", "expect")
    headers = [(name, value) for name, value in request.headers if name.lower() not in framed]
    headers.append(("Transfer-Encoding", "chunked"))
    return replace(request, method="POST", target="/order", headers=tuple(headers), body=body).data


MUTATIONS: tuple[Mutation, ...] = (
    flipped, flipped, rearranged, disturbed, cut, preceded, other_line, other_headers, other_framing, other_framing,
    other_chunks, with_trailers, with_key_in_trailers,
)  # fmt: skip
