"""The general parts of the sites' interface documents: introduction, tags, credentials."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from tradecounter.edge.openapi.core import CORE, Core

VERSION = "1.0"
LICENSE = {"name": "Apache License 2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"}
TAGS = {
    "Catalogue": "Products at your prices with live stock, and the data to filter them by.",
    "Orders": "Orders and quotes, from price to delivery. You create an order, confirm it, and then follow it.",
    "Documents": "Invoices, credit notes, statements and payments, as data and as files.",
    "Account": "Your account: details, credit and address book.",
    "Events": "What happened to your orders, quotes, invoices, prices and stock, for programs that follow it.",
    "Access": "Access tokens for applications that act for a customer.",
    "Service": "The service itself and its documentation.",
}
DESCRIPTION = """\
The reseller's ordering API: the catalogue at your prices with live stock, and orders from price to confirmation.

Send your API key in the header `X-Api-Key`, or as an application acting for a customer, an access token as
`Authorization: Bearer`. Programs that cannot set headers can send the key as the query parameter `api-key`. A bearer
token takes precedence over the header, and the header over the query.

Amounts are pounds, without VAT unless the field says otherwise; times are UK local time without an offset.
Those that end with `Z`, such as `occurred_at` of an event, are in UTC. `GET /product` and `GET /order` respond with
CSV unless the `Accept` header asks for `application/json`.

Every response has `X-Content-Type-Options`, `Referrer-Policy` and `Content-Security-Policy` for browsers, and
`Strict-Transport-Security` where the API is served over https. Every response of a sandbox has `X-Sandbox: true`.

Errors have a `message` that names the field and says how to correct it, and a `code` for programs; `errors` lists the
fields one by one.
`X-Ignored` names unknown parameters and fields, such as misspelt ones; they were ignored. Quote the `X-Request-Id` of a
response when you contact support.

Version 1.0 has a core on which every program may rely. What was added to it is marked: operations, parameters, schemas
and fields have `x-addition`; operations list added statuses in `x-added-statuses`, responses added headers in
`x-added-headers`. A program that knows only the core works without them.
"""
# The key in the query has no scheme: generated clients would send it with every request.
CREDENTIALS = {
    "apiKey": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Api-Key",
        "description": "Your API key: 64 characters. Programs that cannot set headers can send it as the query "
        "parameter `api-key`; URLs end up in logs, so prefer the header.",
    },
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "An access token from `POST /oauth/token`; it takes precedence over an API key.",
    },
}
CLIENT_CREDENTIALS = {
    "clientBasic": {
        "type": "http",
        "scheme": "basic",
        "description": "An application's `client_id` and `client_secret`, form-encoded; for `POST /oauth/token` only.",
    }
}


class About(Struct, frozen=True):
    """The general parts of one site's document; `reference` and `guide` are the paths of its pages."""

    title: str
    summary: str
    description: str
    tags: Mapping[str, str]
    credentials: Mapping[str, Any]
    reference: str
    guide: str | None = None
    client_credentials: Mapping[str, Any] = field(default_factory=dict)  # of operations for applications
    core: Core | None = None  # what is beyond it is marked


PUBLIC = About(
    "Tradecounter",
    "The ordering API of a telecoms-hardware reseller.",
    DESCRIPTION,
    TAGS,
    CREDENTIALS,
    "/docs",
    "/guide",
    CLIENT_CREDENTIALS,
    CORE,
)

_BACK_OFFICE_DESCRIPTION = """\
The reseller's own API: for the programs that keep customers, orders, stock and prices.

Send a service token as `Authorization: Bearer`. Each operation names the scope that it needs; writing includes reading.
`X-Acting-User` names the person on whose behalf a program makes a change; the audit log shows it.

Amounts are numbers in pounds, net unless they say otherwise; times are in UTC and end with `Z`; a date
in a filter is a UK day. Lists are arrays, oldest first unless their operation says otherwise: `Link` has the address of
the next page. A `POST` with an `Idempotency-Key` can be repeated safely; a repeated response has null in place of a
secret.

Errors have a `message` that names the field and says how to correct it; `errors` lists the fields one by one.
`X-Ignored` names unknown parameters and fields; they were ignored.
"""
BACK_OFFICE = About(
    "Tradecounter back office",
    "The reseller's side of Tradecounter.",
    _BACK_OFFICE_DESCRIPTION,
    {
        "Orders": "Orders of all customers, from confirmation to invoice.",
        "Quotes": "Quotes that customers requested.",
        "Returns": "What customers send back.",
        "Customers": "Accounts with their keys, users and addresses.",
        "Billing": "Invoices, credit notes, payments, statements and debtors.",
        "Products": "Products with stock and prices, and why a customer has a price.",
        "Imports": "Files of products, prices, stock and customers, their history and their roll-back.",
        "Operations": "Background jobs, the event log and the audit log.",
        "Webhooks": "Addresses that events are posted to, and their deliveries.",
        "Service": "The service itself and its documentation.",
    },
    {
        "bearer": {
            "type": "http",
            "scheme": "bearer",
            "description": "A service token: 64 characters, from `tradecounter token add`.",
        }
    },
    "/api/docs",
)
