"""Finds customers by what people type, and who their first owner is."""

import re
from typing import LiteralString

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.text import fold, joined_word, lowered_pattern


class FoundCustomer(Struct, frozen=True):
    """A customer and its contact person; `exact`: the number, an e-mail address or the whole name matches."""

    id: int
    name: str
    contact: str
    email_address: str
    blocked: bool
    exact: bool


_FIND = Statement(
    r"""
    with named as (
        select id, coalesce(nullif(company, ''), first_name || ' ' || last_name) as name,
               first_name || ' ' || last_name as contact, email_address, blocked_at is not null as blocked,
               lower(company || ' ' || first_name || ' ' || last_name || ' ' || email_address) as written,
               id::text = :text or external_id = :text or email_key = :key
               or id in (select customer_id from customer_user where email_key = :key) as exact
        from customer offset 0  -- with it, each expression is evaluated once
    ), spelled as (
        select *, written || case when octet_length(written) > length(written) then ' ' || lower(translate(
            regexp_replace(normalize(written, nfkd), '[\u0300-\u036f]', '', 'g'), 'ŁłØøĐđı', 'LlOoDdi'
        )) else '' end as names
        from named offset 0
    )
    select id, name, contact, email_address, blocked, exact or lower(name) ~ :whole as exact from spelled
    where exact
       or (:key <> ''
           and not exists (select from unnest(:words::text[]) as word where position(word in names) = 0)
           and not exists (select from unnest(:patterns::text[]) as pattern where names !~ pattern))
       or id in (
            select customer_id from address
            where deleted_at is null and (
                (:word <> '' and starts_with(
                    lower(regexp_replace(details ->> 'zip', '[^[:alnum:]]', '', 'g')), :word
                ))
                or lower(btrim(details ->> 'city')) ~ :town
                or (:digits <> '' and position(
                    :digits in regexp_replace(details ->> 'contact_number', '[^0-9]', '', 'g')
                ) > 0)
            )
       )
       or (:digits <> '' and id in (
            select customer_id from customer_contact
            where position(:digits in regexp_replace(phone, '[^0-9]', '', 'g')) > 0
       ))
       or (:key <> ''
           and id in (select customer_id from customer_contact where lower(name) ~ :whole or lower(email) = :key))
    order by exact or lower(name) ~ :whole desc, lower(name) ~ :beginning desc, name, id limit :most
    """,
    FoundCustomer,
)
_MOST_PATTERNS = 24  # PostgreSQL keeps 32 compiled expressions: with more, it would compile each for every row
_SHORTEST_TOWN = _SHORTEST_POSTCODE = 3  # letters and digits
_SHORTEST_PHONE = 6  # digits
_PHONE = re.compile(r"[+(]?[0-9][0-9 ()./-]*")
_PREFIX = re.compile(r"^(00|\+)44|^0")


async def find_customers(tx: Transaction, text: str, most: int) -> list[FoundCustomer]:
    """Return customers by number, words of names and e-mail addresses in any order, a user's address, or a contact.

    What is known of a contact is a phone number in any writing, or the beginning of a town or a postcode. What is named
    exactly comes first, then names that begin with the text. Names are found without their accents too.
    """
    key, word, pattern = fold(text), joined_word(text), lowered_pattern(text)
    named = dict.fromkeys(text.split())
    return await tx.fetch_all(
        _FIND,
        text=text,
        key=key,
        words=[each.lower() for each in named if each.isascii()],
        patterns=[lowered_pattern(each) for each in named if not each.isascii()][:_MOST_PATTERNS],
        beginning=f"^{pattern}",
        whole=f"^{pattern}$",
        town=f"^{pattern}" if len(word) >= _SHORTEST_TOWN else f"^{pattern}$",
        word=word if len(word) >= _SHORTEST_POSTCODE and not word.isalpha() else "",
        digits=_phone_digits(text),
        most=most,
    )


def _phone_digits(text: str) -> str:
    """Return the digits of a phone number without the prefix of the country or of the network, or nothing."""
    if not _PHONE.fullmatch(text):
        return ""
    digits = re.sub(r"[^0-9]", "", _PREFIX.sub("", re.sub(r"[^0-9+]", "", text.replace("(0)", ""))))
    return digits if len(digits) >= _SHORTEST_PHONE else ""


# An address that is another customer's user gets no second one; that account has no owner until one is invited.
_ADD: LiteralString = """
    insert into customer_user (customer_id, email, email_key, name, role, created_at)
    select id, email_address, email_key, first_name || ' ' || last_name, 'owner', created_at
    from customer c where {} order by id
    on conflict (email_key) do nothing
"""

ADD_FIRST_OWNER = Statement(SQL(_ADD).format(SQL("id = :customer_id")))
# For imports, which add the result to the number of changed rows.
ADD_FIRST_OWNERS = Statement(
    SQL("with added as ({}) select 0").format(
        SQL(_ADD).format(SQL("not exists (select from customer_user u where u.customer_id = c.id)"))
    )
)
