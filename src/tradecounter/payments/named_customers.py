"""Finds the customers that the reference of a bank line names."""

import re
from collections import Counter
from collections.abc import Sequence

from tradecounter.payments.queries.bank_lines import Company

_WORD = re.compile(r"[^\W_]+")
_FEWEST_LETTERS = 5  # of a first word that names a company alone
# Words of banks and payers, which name no company alone.
_USUAL = {
    "account", "balance", "credit", "deposit", "direct", "faster", "final", "invoice", "invoices", "order", "orders",
    "payment", "payments", "purchase", "remittance", "settlement", "standing", "statement", "supplier", "transfer",
}  # fmt: skip


def words_of(text: str) -> set[str]:
    """Return the words of a text, without case."""
    return set(_WORD.findall(text.lower()))


def names_another(text: str, owner_id: int, companies: Sequence[Company]) -> Sequence[int]:
    """Return the customers that a text names, if it does not name the owner of the invoice.

    It names a company by its whole name, or by its first word where no other company's name begins with that and banks
    do not write it of any payment. Of the owner, any longer word of its names is enough.
    """
    words, lower = words_of(text), text.lower()
    begun = Counter(company.first_word for company in companies)
    found = []
    for company in companies:
        first = company.first_word
        is_alone = len(first) >= _FEWEST_LETTERS and begun[first] == 1 and first not in _USUAL
        if company.customer_id == owner_id:
            if any(len(word) >= _FEWEST_LETTERS - 1 for word in words & words_of(company.names)):
                return []
        elif first in words and (is_alone or company.company.lower() in lower):
            found.append(company.customer_id)
    return found


def says_enough(text: str, shortest: int) -> bool:
    """Return whether a text has so many letters and digits besides words of banks and payers, and is no part of one."""
    own = "".join(word for word in _WORD.findall(text.lower()) if word not in _USUAL)
    return len(own) >= shortest and not any(own in word for word in _USUAL)
