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
    """Return the customers that a text names, unless it names the owner of the invoice.

    A text names a company by its whole name. It also names it by its first word, if this word is not common in bank
    files and no other company's name begins with it. Any longer word of the owner's names counts as naming the owner.
    """
    words, lower = words_of(text), text.lower()
    begun = Counter(company.first_word for company in companies)
    customers = []
    for company in companies:
        first = company.first_word
        is_alone = len(first) >= _FEWEST_LETTERS and begun[first] == 1 and first not in _USUAL
        if company.customer_id == owner_id:
            if any(len(word) >= _FEWEST_LETTERS - 1 for word in words & words_of(company.names)):
                return []
        elif first in words and (is_alone or company.company.lower() in lower):
            customers.append(company.customer_id)
    return customers


def says_enough(text: str, shortest: int) -> bool:
    """Return whether a text identifies a payment.

    It needs `shortest` letters and digits besides the words that banks and payers use, and may not be part of such a
    word.
    """
    telling = "".join(word for word in _WORD.findall(text.lower()) if word not in _USUAL)
    return len(telling) >= shortest and not any(telling in word for word in _USUAL)
