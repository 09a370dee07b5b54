"""Answers that were given before, kept ready to be given again: as many as fit, those that were asked for last.

All requests that ask for the same share an answer. It holds nothing that belongs to one request alone, such as the
query that its links keep: that is added for each.
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from tradecounter.rest.paging import PageLinks

Header = tuple[bytes, bytes]
Question = tuple[bytes | str | None, ...]

_OVERHEAD = 1000  # bytes that an answer takes besides its texts, roughly
_LARGEST_SHARE = 4  # one answer takes at most a quarter of the memory


def head_lines(headers: Iterable[Header]) -> bytes:
    """Return headers as they stand in an HTTP message."""
    return b"".join(name + b": " + value + b"\r\n" for name, value in headers)


@dataclass(frozen=True)
class GivenAnswer:
    """An answer as it went out: its status, entity tag and lasting headers, and its body in pieces of a good size.

    `links` are what its `Link` header is made from; `requests` is how many it counts as.
    """

    status: int
    tag: bytes
    headers: tuple[Header, ...]
    pieces: tuple[bytes, ...]
    links: PageLinks | None = None
    requests: int = 1

    @cached_property
    def head(self) -> bytes:
        """The headers as they stand in an HTTP message."""
        return head_lines(self.headers)


@dataclass(slots=True)
class AnswerMemory:
    """Remembers answers by what was asked; 0 bytes remember none.

    `most_bytes` bounds all of them together, and what others keep beside them (`set_aside`).
    """

    most_bytes: int
    _answers: OrderedDict[Question, GivenAnswer] = field(default_factory=OrderedDict)
    _bytes: int = 0
    _under_way: dict[Question, int] = field(default_factory=dict)

    @property
    def largest(self) -> int:
        """The most bytes that one answer may take, and that all may take together while they are under way."""
        return self.most_bytes // _LARGEST_SHARE

    def begin(self, question: Question) -> bool:
        """Tell whether an answer of several pieces may be noted, one for each question; `end` has to follow."""
        if question in self._under_way:
            return False
        self._under_way[question] = 0
        return True

    def has_room(self, question: Question, size: int) -> bool:
        """Tell whether so many bytes more of an answer that was begun may be noted; if so, they count."""
        if sum(self._under_way.values()) + size > self.largest:
            return False
        self._under_way[question] += size
        return True

    def end(self, question: Question) -> None:
        """Count an answer that was begun no longer."""
        del self._under_way[question]

    def get(self, question: Question) -> GivenAnswer | None:
        """Return what was answered to a question, or None."""
        answer = self._answers.get(question)
        if answer is not None:
            self._answers.move_to_end(question)
        return answer

    def keep(self, question: Question, answer: GivenAnswer) -> None:
        """Remember an answer, forgetting those that were asked for longest ago where room is needed."""
        size = _size(question, answer)
        if size > self.largest:
            return
        before = self._answers.pop(question, None)
        self._answers[question] = answer
        self.set_aside(size - (0 if before is None else _size(question, before)))

    def set_aside(self, size: int) -> None:
        """Add bytes to what is kept, or take them off; forget the answers asked for longest ago until all fits."""
        self._bytes += size
        while self._bytes > self.most_bytes and self._answers:
            self._bytes -= _size(*self._answers.popitem(last=False))


def _size(question: Question, answer: GivenAnswer) -> int:
    """Return how many bytes it takes to remember an answer; question and headers are as long as a client likes."""
    asked = sum(len(part) for part in question if part is not None)
    headers = sum(len(name) + len(value) for name, value in answer.headers)
    return _OVERHEAD + asked + 2 * headers + sum(map(len, answer.pieces))  # the headers also as a head
