"""Finds orders by what people type or scan."""

import re
from decimal import Decimal

from msgspec.structs import replace
from psycopg.sql import SQL, Composed, Literal

from tradecounter.db.label_codes import MOST_OF_ALL, begins, code_bounds, code_of, ends
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import invalid
from tradecounter.kit.text import joined_word
from tradecounter.orders.queries.all_orders import (
    NUMBER_AT_END,
    ORDER_ROW,
    TYPED_WORD,
    WITH_CUSTOMER,
    WORD,
    WORD_OF,
    OrderFilter,
    OrderRow,
    code_range,
    letters_of,
)

_DIGITS = re.compile(r"[0-9]{3,}")
_LAST_CHARACTER = "\U0010ffff"  # after every other character

# Of indexes, so they must be written as there (`db/migrations/versions/0041_search.py`). In the order of an index, the
# planner reads no more than it needs.
_DIGITS_AT_END = SQL("substring(customer_reference from '([0-9]{3,})([^0-9]+[0-9]{0,2})*$')")
_TRACKING = code_of("tracking_number")
_ZIP = SQL("upper(regexp_replace(shipping_address ->> 'zip', '[^[:alnum:]]', '', 'g'))")

# Null for the empty word, which begins all.
_BEGINS_WITH = SQL(
    "customer_reference <> '' and {word} ~>=~ nullif({typed}, '') and {word} ~<~ (nullif({typed}, '') || {last})"
).format(word=WORD, typed=TYPED_WORD, last=Literal(_LAST_CHARACTER))


def _found_in(orders: SQL) -> Composed:
    """Return the query of what a text finds by an index of its own, among the orders of a condition."""
    return SQL("""
        (select id, confirmation_code = lower(:text) as exact from orders
         where {orders} and confirmation_code between :first and :last limit :most)
        union all
        (select id, false from orders
         where {orders} and {postcode} = :postcode
         order by id desc limit :most)
        union all
        (select id, false from orders
         where {orders}
           and (gross, id) between (:amount::numeric, 0::bigint) and (:amount::numeric, 9223372036854775807)
         order by gross desc, id desc limit :most)
        union all
        (select order_id, {tracking} = :code from shipment where {tracking_begins} limit :most_parcels)
        union all
        (select order_id, false from shipment where {tracking_ends} limit :most_parcels)
    """).format(
        orders=orders,
        postcode=_ZIP,
        tracking=_TRACKING,
        tracking_begins=begins("tracking_number"),
        tracking_ends=ends("tracking_number"),
    )


_FIND_ORDERS = Statement(
    SQL("""
    with found as (
        select id, true as exact from orders
        where number = :number::bigint and (lower(order_reference) = lower(:text) or number::text = :text)
        union all
        select id, true from orders where id = :number::bigint and id::text = :text
        union all
        (select id, true from orders where reference_key(customer_reference) = reference_key(:text) limit :most)
        union all
        (select id, false from orders
         where {begins_with} and length({typed}) > 1
         order by {word} using ~<~ limit :most)
        union all
        (select id, false from orders
         where {digits} ~>=~ :digits
           and {digits} ~<~ :after_digits
         order by {digits} using ~<~ limit :most)
        union all
        {of_all}
    )
    {row}, f.exact
    from (select id, bool_or(exact) as exact from found group by id) as f
    join orders using (id) join customer as c on c.id = orders.customer_id
    order by f.exact desc, placed_at desc, orders.id desc limit :most
    """).format(
        row=WITH_CUSTOMER,
        begins_with=_BEGINS_WITH,
        typed=TYPED_WORD,
        word=WORD,
        digits=_DIGITS_AT_END,
        of_all=_found_in(SQL("true")),
    ),
    OrderRow,
)


async def find_orders(tx: Transaction, text: str, amount: Decimal | None, most: int) -> list[OrderRow]:
    """Return orders and quotes, those that match exactly first.

    `text` is an order's id, reference or number, the beginning of a confirmation code, the customer's reference, its
    beginning or the digits in it, however it is punctuated, a tracking number, its beginning or end, or a postcode;
    `amount` is a total.
    """
    number = NUMBER_AT_END.search(text)
    return await tx.fetch_all(
        _FIND_ORDERS,
        text=text,
        number=None if number is None else int(number[0]),
        **code_range(text),
        **_digit_range(joined_word(text)),
        **code_bounds(text),
        postcode=joined_word(text).upper() or None,
        amount=amount,
        most=most,
        most_parcels=most,
    )


_MOST_WITH_REFERENCE = 500  # orders; the planner would rather look through the latest ones for more
_WITH_REFERENCE = Statement(
    SQL("""
    (select id from orders where reference_key(customer_reference) = reference_key(:text) limit :most)
    union
    (select id from orders where {begins_with} order by {word} using ~<~ limit :most)
    union
    (select id from orders where {digits} ~>=~ :digits and {digits} ~<~ :after_digits
     order by {digits} using ~<~ limit :most)
    """).format(begins_with=_BEGINS_WITH, word=WORD, digits=_DIGITS_AT_END)
)
_IS_REFERENCE = Statement(
    "select exists (select from orders where reference_key(customer_reference) = reference_key(:text))"
)


async def by_part_of_reference(tx: Transaction, wanted: OrderFilter) -> OrderFilter:
    """Return a filter that matches customers' references by less than all of them.

    That is any part for the orders of one customer; for those of all, the beginning, or that of the last digits,
    however it is punctuated. Where too many orders begin so, only those match that have all of the text as their
    reference. Raises DomainError (invalid) if there are none of these.
    """
    text = wanted.customer_reference
    if text is None:
        return wanted
    if wanted.customer_id is not None:
        return replace(wanted, customer_reference=None, reference_part=text)
    most = _MOST_WITH_REFERENCE
    rows = await tx.fetch_all(_WITH_REFERENCE, text=text, **_digit_range(joined_word(text)), most=most + 1)
    if len(rows) <= most:
        return replace(wanted, customer_reference=None, ids=[order_id for (order_id,) in rows])
    if await tx.fetch_value(_IS_REFERENCE, text=text):
        return wanted
    raise invalid("customer_reference", f"begins the references of more than {most} orders: type more of it")


# Of one customer's orders, which may be hundreds of thousands, an index has both references, in the order of the list.
# The pattern leaves few of them for the comparison of words, which takes ten times as long. An order reference has no
# letters but of ASCII, and with some locales `typed` has none either: "É1" would be in all with a 1.
_TYPED = SQL("nullif({}, '')").format(TYPED_WORD)
_HAS_TEXT = SQL("""
    (lower(customer_reference) like (select letters from typed)
     or lower(order_reference) like (select letters from typed))
    and (position((select word from typed) in {theirs}) > 0 or position(nullif(:word, '') in {ours}) > 0)
""").format(theirs=WORD, ours=WORD_OF.format(SQL("order_reference")))
_FIND_OWN = Statement(
    SQL("""
    with typed as materialized (
        select {typed} as word, {letters} as letters
    ), found as (
        {own}
        union all
        (select id, false from orders where customer_id = :customer_id and state = 'confirmed' and {has_text}
         order by confirmed_at desc, number desc limit :most)
        union all
        (select id, false from orders where customer_id = :customer_id and state = 'pending' and {has_text}
         order by id desc limit :most)
        union all
        (select id, false from orders where customer_id = :customer_id and state = 'cancelled' and {has_text}
         order by id desc limit :most)
    )
    {row} from (select distinct id from found) as f join orders using (id)
    where customer_id = :customer_id and state <> 'expired'
    order by placed_at desc, id desc limit :most
    """).format(
        typed=_TYPED,
        letters=letters_of(_TYPED),
        has_text=_HAS_TEXT,
        own=_found_in(SQL("customer_id = :customer_id and state <> 'expired'")),
        row=ORDER_ROW.format(SQL("''")),
    ),
    OrderRow,
)


async def find_own_orders(
    tx: Transaction, customer_id: int, text: str, amount: Decimal | None, most: int
) -> list[OrderRow]:
    """Return the customer's latest orders and quotes that have a text.

    It is a part of an order reference or of the customer's reference, however it is punctuated, the beginning of a
    confirmation code, a tracking number, its beginning or end, or a postcode; `amount` is a total.
    Where more than a thousand parcels of all customers begin or end so, the customer's own may be missing until more
    is typed.
    """
    return await tx.fetch_all(
        _FIND_OWN,
        customer_id=customer_id,
        text=text,
        word=joined_word(text),
        **code_range(text),
        **code_bounds(text),
        postcode=joined_word(text).upper() or None,
        amount=amount,
        most=most,
        most_parcels=MOST_OF_ALL,
    )


def _digit_range(word: str) -> dict[str, str | None]:
    """Return the values of a statement that looks for digits with a beginning; without values for other texts."""
    match = _DIGITS.fullmatch(word)
    return {"digits": word if match else None, "after_digits": word + _LAST_CHARACTER if match else None}
