"""A fixed number of requests, so that the processor time of each can be told: each is sent once, several at a time."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from bench.kit.http import Connection, Response
from bench.kit.processes import BenchError
from bench.kit.product import Server


@dataclass(frozen=True, slots=True)
class Batch:
    """The responses, in the order of the requests, and the seconds until all had arrived."""

    responses: Sequence[Response]
    seconds: float


def send_each_once(server: Server, requests: Sequence[bytes], parallel: int, expected: int) -> Batch:
    """Send each request once, with a persistent connection for each of `parallel` threads.

    Raises BenchError if a response has another status than `expected`.
    """

    def send(first: int) -> list[Response]:
        with Connection(server.host, server.port) as connection:
            return [connection.fetch(request) for request in requests[first::parallel]]

    start = time.perf_counter()
    with ThreadPoolExecutor(parallel) as threads:
        shares = list(threads.map(send, range(parallel)))
    seconds = time.perf_counter() - start
    responses = [shares[number % parallel][number // parallel] for number in range(len(requests))]
    for response in responses:
        if response.status != expected:
            raise BenchError(f"a response has status {response.status}: {response.body[:200]!r}")
    return Batch(responses, seconds)
