"""A client that repeats each request with its idempotency key until it gets a response, as clients should."""

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import httpx2

_AFTER_AN_ERROR = 0.3
PATIENCE_SECONDS = 180
_TRY_AGAIN = frozenset(
    {409, 503}
)  # 409: still being processed, or waiting for stock that another order's adjustment brings
_TIMEOUT_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A request that was carried out, and its response."""

    base_urls: Sequence[str]
    path: str
    body: Any
    headers: Mapping[str, str]
    response: bytes


@dataclass
class Sender:
    """Sends requests to the processes of the two sites."""

    public: Sequence[str]
    backoffice: Sequence[str]
    token: str
    lost: int = 0  # requests without a response
    repeated: int = 0  # requests with a response that asked for a repetition
    faults: list[str] = field(default_factory=list)
    acknowledged: list[Acknowledged] = field(default_factory=list)
    repeats: frozenset[int] = _TRY_AGAIN  # statuses after which a request is repeated
    http: httpx2.Client = field(default_factory=lambda: httpx2.Client(timeout=_TIMEOUT_SECONDS))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.http.close()

    def customer_post(self, api_key: str, path: str, key: str, body: Any) -> Any:
        """Send an operation of the customers' API."""
        return self._post(self.public, path, key, body, {"X-Api-Key": api_key})

    def staff_post(self, path: str, key: str, body: Any) -> Any:
        """Send an operation of the back office; its audit entries name the key as the acting user."""
        headers = {"Authorization": f"Bearer {self.token}", "X-Acting-User": key}
        return self._post(self.backoffice, path, key, body, headers)

    def staff_get(self, path: str) -> httpx2.Response:
        """Read from the back office."""
        return self.read(self.backoffice, path, {"Authorization": f"Bearer {self.token}"})

    def staff_try(self, path: str) -> httpx2.Response:
        """Read from the back office; the response may be an error."""
        return self.http.get(f"{self.backoffice[0]}{path}", headers={"Authorization": f"Bearer {self.token}"})

    def read(self, base_urls: Sequence[str], path: str, headers: Mapping[str, str]) -> httpx2.Response:
        """Read until there is a response."""
        return self._respond(base_urls, 0, path, "GET", headers=headers)

    def _post(self, base_urls: Sequence[str], path: str, key: str, body: Any, headers: Mapping[str, str]) -> Any:
        """Repeat a request until it gets a response; then send it once more, for the same response from another."""
        sent = {**headers, "Idempotency-Key": key}
        first = self._respond(base_urls, sum(key.encode()), path, "POST", json=body, headers=sent)
        done = Acknowledged(base_urls, path, body, sent, first.content)
        self.acknowledged.append(done)
        self._repeat(done, sum(key.encode()) + 1)
        return first.json()

    def repeat(self, every: int) -> None:
        """Send each so many-th of the acknowledged requests once more; it still gets its response."""
        for number, done in enumerate(self.acknowledged[::every]):
            self._repeat(done, number)

    def _repeat(self, done: Acknowledged, turn: int) -> None:
        again = self._respond(done.base_urls, turn, done.path, "POST", json=done.body, headers=done.headers)
        key = done.headers["Idempotency-Key"]
        if again.content != done.response:
            self.faults.append(f"{key} got different responses: {done.response[:200]!r} and {again.text[:200]}")
        if again.headers.get("Idempotent-Replay") != "true":
            self.faults.append(f"{key} was processed again")

    def _respond(self, base_urls: Sequence[str], turn: int, path: str, method: str, **request: Any) -> httpx2.Response:
        began, last = time.monotonic(), "no response"
        for url in itertools.islice(itertools.cycle(base_urls), turn % len(base_urls), None):
            if self.gives_up(began):
                raise self._given_up(f"{method} {path} {request.get('json')}: {last}")
            try:
                response = self.http.request(method, f"{url}{path}", **request)
            except httpx2.TransportError as error:
                self.lost += 1
                last = repr(error)
                time.sleep(_AFTER_AN_ERROR)
                continue
            if response.is_success:
                return response
            last = f"{response.status_code} {response.text}"
            if response.status_code not in self.repeats:
                raise self._given_up(f"{method} {path} {request.get('json')}: {last}")
            self.repeated += 1
            time.sleep(_AFTER_AN_ERROR)
        raise AssertionError("there are no processes")

    def gives_up(self, began: float) -> bool:
        """Whether a request that began at a time, in monotonic seconds, is no longer repeated."""
        return time.monotonic() > began + PATIENCE_SECONDS

    def _given_up(self, what: str) -> AssertionError:
        """Note a request that a client gives up: of several clients, only one's error is raised."""
        self.faults.append(f"given up: {what}")
        return AssertionError(what)
