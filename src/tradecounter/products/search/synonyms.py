"""Words that mean the same."""

from collections import defaultdict
from collections.abc import Collection, Iterable

from msgspec import Struct

from tradecounter.kit.text import words
from tradecounter.products.search.terms import stem

Phrase = tuple[str, ...]

# The trade's. Only what means the same belongs here, not what is near: a transceiver is not always an SFP.
GROUPS = (
    "adaptor, adapter",
    "wlan, wifi, wireless lan",
    "patch cable, patch lead, patch cord",
    "poe injector, midspan",
    "fibre, fiber",
    "psu, power supply, power supply unit",
    "ups, uninterruptible power supply",
    "pdu, power distribution unit",
    "nvr, network video recorder",
    "nic, network adapter, network interface card",
    "ap, access point",
)


class Synonyms(Struct, frozen=True):
    """The phrases that mean the same as a phrase, by its words, joined and stemmed."""

    others: dict[str, tuple[Phrase, ...]]
    joined: tuple[str, ...]

    @classmethod
    def of(cls, groups: Collection[str]) -> "Synonyms":
        """Return the synonyms of the program's groups and of others; each is a line of phrases parted by commas."""
        found: defaultdict[str, dict[Phrase, None]] = defaultdict(dict)
        for group in (*GROUPS, *groups):
            phrases = phrases_of(group)
            for phrase in phrases:
                found[key_of(phrase)] |= dict.fromkeys(other for other in phrases if key_of(other) != key_of(phrase))
        joined = tuple("".join(phrase) for group in (*GROUPS, *groups) for phrase in phrases_of(group))
        return cls({key: tuple(others) for key, others in found.items()}, joined)

    def of_phrase(self, phrase: Iterable[str]) -> tuple[Phrase, ...]:
        """Return the phrases that mean the same as a phrase, without itself."""
        return self.others.get(key_of(phrase), ())

    def is_begun(self, joined: str) -> bool:
        """Return whether a phrase of a group, joined, begins so."""
        return any(phrase.startswith(joined) for phrase in self.joined)


def phrases_of(group: str) -> list[Phrase]:
    """Return a group's phrases."""
    return [phrase for text in group.split(",") if (phrase := tuple(words(text)))]


def key_of(phrase: Iterable[str]) -> str:
    """Return a phrase's words, joined and stemmed."""
    return stem("".join(phrase))
