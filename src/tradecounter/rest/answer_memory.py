"""Answers that were given before, kept ready to be given again: as many as fit, those that were asked for last."""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property

Header = tuple[bytes, bytes]

_OVERHEAD = 1000  # bytes that an answer takes besides its body, roughly
_LARGEST_SHARE = 4  # one answer takes at most a quarter of the memory


@dataclass(frozen=True)
class GivenAnswer:
    """An answer as it went out: its status, entity tag and headers, and its body in the pieces in which it was sent."""

    status: int
    tag: bytes
    headers: tuple[Header, ...]
    pieces: tuple[bytes, ...]

    @cached_property
    def head(self) -> bytes:
        """The headers as they stand in an HTTP message."""
        return b"".join(name + b": " + value + b"\r\n" for name, value in self.headers)

    @cached_property
    def size(self) -> int:
        """How many bytes it takes to remember the answer."""
        return _OVERHEAD + sum(map(len, self.pieces))


@dataclass(slots=True)
class AnswerMemory:
    """Remembers answers by what was asked; `most_bytes` bounds all of them together, and 0 remembers none."""

    most_bytes: int
    _answers: OrderedDict[Hashable, GivenAnswer] = field(default_factory=OrderedDict)
    _bytes: int = 0

    @property
    def largest(self) -> int:
        """The most bytes that one answer may take."""
        return self.most_bytes // _LARGEST_SHARE

    def get(self, question: Hashable) -> GivenAnswer | None:
        """Return what was answered to a question, or None."""
        answer = self._answers.get(question)
        if answer is not None:
            self._answers.move_to_end(question)
        return answer

    def keep(self, question: Hashable, answer: GivenAnswer) -> None:
        """Remember an answer, forgetting those that were asked for longest ago where room is needed."""
        if answer.size > self.largest:
            return
        before = self._answers.pop(question, None)
        self._bytes += answer.size - (before.size if before else 0)
        self._answers[question] = answer
        while self._bytes > self.most_bytes:
            _, forgotten = self._answers.popitem(last=False)
            self._bytes -= forgotten.size
