"""The import kind of customers, told apart by their e-mail address."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.bulk.cells import PERCENT
from tradecounter.bulk.kinds import ImportKind, Staged, by_row
from tradecounter.bulk.statements import merge_statement, required_when_new
from tradecounter.bulk.values import RowNotes, folded, given, pounds
from tradecounter.customers.address_rules import check_address
from tradecounter.customers.wire import AddressDetails, Email
from tradecounter.kit.email_addresses import NOT_AN_EMAIL, parse_email

Name = Annotated[str, Meta(max_length=200)]

_LARGEST_LIMIT = Decimal(1_000_000_000)
_DEFAULTS = {
    "company": "",
    "trade_account": False,
    "discount": 0,
    "packing": "own",
    "unique_references": False,
    "order_mails": True,
}


class CustomerRow(Struct, forbid_unknown_fields=True):
    """A customer; addresses that it does not have yet are added."""

    email_address: Email
    first_name: Name | UnsetType = UNSET
    last_name: Name | UnsetType = UNSET
    company: Name | UnsetType = UNSET
    accounts_email: Email | UnsetType | None = UNSET
    trade_account: bool | UnsetType = UNSET
    price_list: str | UnsetType | None = UNSET
    discount: Annotated[Decimal, PERCENT] | UnsetType = UNSET
    credit_limit: Decimal | UnsetType | None = UNSET
    term_days: Annotated[int, Meta(ge=0, le=3650)] | UnsetType | None = UNSET
    packing: Literal["own", "plain"] | UnsetType = UNSET
    shipping_method: Annotated[int, Meta(ge=1, le=2**31 - 1)] | UnsetType | None = UNSET
    unique_references: bool | UnsetType = UNSET
    order_mails: bool | UnsetType = UNSET
    addresses: list[AddressDetails] | UnsetType = UNSET


def _staged(customer: CustomerRow, notes: RowNotes) -> Iterator[Staged]:
    values = given(customer)
    for name in ("email_address", "accounts_email"):
        if isinstance(email := getattr(customer, name), str) and parse_email(email) is None:
            notes.fault(name, NOT_AN_EMAIL)
    if isinstance(customer.addresses, list):
        for number, address in enumerate(customer.addresses):
            with notes.collecting():
                check_address(address, f"addresses[{number}]")
    for name, most in (("discount", Decimal(100)), ("credit_limit", _LARGEST_LIMIT)):
        if name in values:
            values[name] = pounds(notes, name, getattr(customer, name), most)
    yield folded(customer.email_address), values


CUSTOMERS = ImportKind(
    shape=CustomerRow,
    key=("email_address",),
    prepare=by_row(_staged),
    checks=(
        required_when_new("customer", "email_key", ("first_name", "last_name"), "customer"),
        """
        select s.line, format('price_list: there is no price list %%s', to_json(s.row ->> 'price_list'))
        from staged s left join price_list l on l.key = s.row ->> 'price_list'
        where s.row ->> 'price_list' is not null and l.key is null
        """,
        """
        select s.line, 'credit_limit and term_days go together'
        from staged s left join customer c on c.email_key = s.key
        where s.key is not null
          and (case when jsonb_exists(s.row, 'credit_limit') then s.row ->> 'credit_limit'
                    else c.credit_limit::text end is null)
           <> (case when jsonb_exists(s.row, 'term_days') then s.row ->> 'term_days'
                    else c.term_days::text end is null)
        """,
    ),
    merge=merge_statement(
        "customer",
        "email_key",
        (
            "email_address", "first_name", "last_name", "company", "accounts_email", "trade_account", "price_list",
            "discount", "credit_limit", "term_days", "packing", "shipping_method", "unique_references",
            "order_mails",
        ),
        _DEFAULTS,
    ),
    after=(
        """
        with new as (
            select c.id, given.details, min(given.position) as position
            from staged s join customer c on c.email_key = s.key,
                 jsonb_array_elements(s.row -> 'addresses') with ordinality as given (details, position)
            where not exists (select from address a where a.customer_id = c.id and a.details = given.details
                              and a.deleted_at is null)
            group by c.id, given.details
        ), added as (
            insert into address (customer_id, details) select id, details from new order by id, position
            returning customer_id
        )
        select count(distinct c.id) from added join customer c on c.id = added.customer_id
        where c.xmin::text <> pg_current_xact_id()::xid::text
        """,
    ),
    warnings=(
        """
        select s.line, format('shipping_method: there is no shipping method %%s', s.row ->> 'shipping_method')
        from staged s left join shipping_method m on m.id = (s.row ->> 'shipping_method')::integer and m.active
        where s.row ->> 'shipping_method' is not null and m.id is null
        """,
    ),
    removal=None,
    view="""
        select email_key as key,
               to_jsonb(c) - '{id,email_key,created_at}'::text[] || jsonb_build_object('addresses', (
                   select coalesce(jsonb_agg(a.details order by a.id), '[]') from address a
                   where a.customer_id = c.id and a.deleted_at is null)) as row
        from customer c
    """,
    topics=("customers",),
)  # fmt: skip
