"""Requests known by their text: a program that asks again sends the same bytes, which need not be read again."""

from collections import OrderedDict
from hashlib import sha256

from tradecounter.rest.answer_memory import AnswerMemory
from tradecounter.web.request_head import Asked

_LONGEST = 2_000  # bytes of a request's text
_SHARE = 8  # they take at most an eighth of the memory for answers


class KnownRequests:
    """What requests say, by a digest of their text, which itself holds a key.

    They count towards the memory for answers, and those that were learnt first are forgotten first.
    """

    def __init__(self, memory: AnswerMemory) -> None:
        self._memory = memory
        self._most_bytes = memory.most_bytes // _SHARE
        self._known: OrderedDict[bytes, Asked] = OrderedDict()
        self.bytes = 0

    def get(self, raw: bytes) -> Asked | None:
        """Return what a request says that was learnt."""
        return self._known.get(sha256(raw).digest())

    def learn(self, raw: bytes, asked: Asked) -> None:
        """Learn what a request of just this text says, unless it is long or has an id, and will not be sent again."""
        if len(raw) > _LONGEST or asked.request_id:
            return
        digest = sha256(raw).digest()
        if digest in self._known:
            return
        before = self.bytes
        self._known[digest] = asked
        self.bytes += asked.size
        while self.bytes > self._most_bytes:
            self.bytes -= self._known.popitem(last=False)[1].size
        self._memory.set_aside(self.bytes - before)
