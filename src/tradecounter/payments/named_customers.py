"""Finds the customers that the reference of a bank line names."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Self

from msgspec import Struct

from tradecounter.payments.queries.bank_lines import Company

_WORD = re.compile(r"[^\W_]+")
_FEWEST_LETTERS = 5  # of a first word that names a company alone
_FEWEST_OF_OWNER = 4  # of a word of the owner's names
_FEWEST_TELLING = 4  # letters and digits of a reference
# Words of banks and payers, which name no company alone.
_USUAL = {
    "account", "balance", "credit", "deposit", "direct", "faster", "final", "invoice", "invoices", "order", "orders",
    "payment", "payments", "purchase", "remittance", "settlement", "standing", "statement", "supplier", "transfer",
}  # fmt: skip


def words_of(text: str) -> set[str]:
    """Return the words of a text, without case."""
    return set(_WORD.findall(text.lower()))


class Companies(Struct, frozen=True):
    """The companies that references may name, by customer and by the first word of the name."""

    by_customer: Mapping[int, Company]
    by_first_word: Mapping[str, Sequence[Company]]

    @classmethod
    def of(cls, companies: Iterable[Company]) -> Self:
        """Index companies."""
        by_customer, by_first_word = dict[int, Company](), dict[str, list[Company]]()
        for company in companies:
            by_customer[company.customer_id] = company
            by_first_word.setdefault(company.first_word, []).append(company)
        return cls(by_customer, by_first_word)


def names_another(text: str, owner_id: int, companies: Companies) -> Sequence[int]:
    """Return the customers that a text names, unless it names the owner of the invoice.

    A text names a company by its whole name. It also names it by its first word, if this word is not common in bank
    files and no other company's name begins with it. Any longer word of the owner's names counts as naming the owner,
    unless it is common in bank files or in the other company's names too, such as Limited.
    """
    words, lower = words_of(text), text.lower()
    owner = companies.by_customer.get(owner_id)
    shared = set() if owner is None else words & words_of(owner.names) - _USUAL
    of_owner = {word for word in shared if len(word) >= _FEWEST_OF_OWNER}
    customers = []
    for word in words:
        begun = companies.by_first_word.get(word, [])
        is_alone = len(begun) == 1 and len(word) >= _FEWEST_LETTERS and word not in _USUAL
        named = [company for company in begun if is_alone or company.company.lower() in lower]
        customers += [
            company.customer_id
            for company in named
            if company.customer_id != owner_id and of_owner <= words_of(company.names)
        ]
    return sorted(customers)


def says_enough(text: str) -> bool:
    """Return whether a text identifies a payment.

    It needs four letters and digits besides the words that banks and payers use, and may not be part of such a word.
    """
    telling = "".join(word for word in _WORD.findall(text.lower()) if word not in _USUAL)
    return len(telling) >= _FEWEST_TELLING and not any(telling in word for word in _USUAL)
