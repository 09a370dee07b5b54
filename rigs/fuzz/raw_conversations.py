"""Conversations in raw HTTP for fuzzing: requests in one stream of bytes, cut into pieces, most with a mutated one.

A conversation is made from a seed, the way that it takes to the service, and its number: it is the same each time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random

from rigs.fuzz.raw_mutations import MUTATIONS, Mutation
from rigs.fuzz.raw_requests import Buyer, Generator, RawRequest

_MOST_REQUESTS = 6
_MOST_PIECES = 8


@dataclass(frozen=True)
class Conversation:
    """What one client sends, piece by piece, and how it ends: "wait" for responses, "close", "reset" or "half-close".

    `mutated` is the place of the first request that is not as it should be, and `what` says what is wrong with it.
    """

    name: str
    requests: tuple[RawRequest, ...]
    pieces: tuple[bytes, ...]
    ending: str
    mutated: int | None
    what: str

    @property
    def sound(self) -> tuple[RawRequest, ...]:
        """The requests before the mutated one."""
        return self.requests[: self.mutated]

    @property
    def ids(self) -> list[str]:
        """The ids of all requests, in order."""
        return [request.id for request in self.requests]


def conversation(
    seed: int, way: str, number: int, buyers: Sequence[Buyer], mutations: Sequence[Mutation] = MUTATIONS
) -> Conversation:
    """Return a conversation; which ones there are depends on the mutations to choose from, too."""
    name = f"{seed}.{way}.{number}"
    chance = Random(name)  # noqa: S311 the same each time, and no secret
    generator = Generator(chance, name, buyers)
    requests = [generator.request() for _ in range(chance.randint(1, _MOST_REQUESTS))]
    if chance.random() < 0.2:
        requests[-1] = _closing(requests[-1], chance)
    mutated, what = None, "sound"
    texts = [request.data for request in requests]
    if mutations and chance.random() < 0.7:
        mutated, mutation = chance.randrange(len(requests)), chance.choice(mutations)
        if requests[mutated].method == "HEAD":  # whether its response has a body would be open
            requests[mutated] = replace(requests[mutated], method="GET")
        texts[mutated], what = mutation(generator, requests[mutated]), mutation.__name__
    stream = b"".join(texts)
    ending = chance.choices(["wait", "close", "reset", "half-close"], [7, 1, 1, 1])[0]
    if ending != "wait" and chance.random() < 0.5:
        stream = stream[: chance.randrange(len(stream) + 1)]
    return Conversation(name, tuple(requests), tuple(_pieces(stream, chance)), ending, mutated, what)


def _closing(request: RawRequest, chance: Random) -> RawRequest:
    if request.method == "GET" and not request.body and chance.random() < 0.5:
        return replace(request, version="HTTP/1.0")
    return replace(request, headers=(*request.headers, ("Connection", "close")))


def _pieces(stream: bytes, chance: Random) -> list[bytes]:
    """Return a stream cut at random places, at times byte by byte at one of them."""
    places = sorted(chance.randrange(len(stream) + 1) for _ in range(chance.choice([0, 0, 1, 3, _MOST_PIECES])))
    if places and chance.random() < 0.2:
        places = sorted({*places, *(min(len(stream), places[0] + step) for step in range(12))})
    edges = [0, *places, len(stream)]
    return [stream[start:end] for start, end in pairwise(edges) if start < end]
