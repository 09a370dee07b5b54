"""The addresses at which the benchmark opens the pages of both sites. What stands in braces is of `Things`."""

import re
from collections.abc import Mapping, Sequence

from tradecounter.access.pages.both.sign_in import SIGN_IN_SUBJECTS
from tradecounter.consent.pages.account import CONSENT_PATH, ConsentPages
from tradecounter.edge.pages.operation import PageOperation
from tradecounter.edge.pages.page_site import ACCOUNT, BACK_OFFICE, PageSite, placed
from tradecounter.edge.rest.operation import operations_of
from tradecounter.sites.account_pages import SUBJECTS as ACCOUNT_SUBJECTS
from tradecounter.sites.back_office_pages import SUBJECTS as OFFICE_SUBJECTS

CODE = "/sign-in/code"  # below a site's root: for people who have entered their password only

_DOCUMENT = "a document, not a page"
_NO_SANDBOX = "asks a sandbox, which is another installation"
LEFT_OUT: Mapping[str, str] = {
    "/credit-note/{number}/pdf": _DOCUMENT,
    "/customer/{id}/export": _DOCUMENT,
    "/import/check/{upload}/bad-rows": _DOCUMENT,
    "/import/file/{kind}": _DOCUMENT,
    "/invoice/{number}/pdf": _DOCUMENT,
    "/order/many/packing-slip": _DOCUMENT,
    "/order/many/picking-list": _DOCUMENT,
    "/order/{reference}/packing-slip": _DOCUMENT,
    "/order/{reference}/picking-list": _DOCUMENT,
    "/request/file/{id}": _DOCUMENT,
    "/account/invoice/credit-note/{number}/pdf": _DOCUMENT,
    "/account/invoice/zip": _DOCUMENT,
    "/account/invoice/credit-note/zip": _DOCUMENT,
    "/account/invoice/{number}/pdf": _DOCUMENT,
    "/account/order/{reference}/file/{id}": _DOCUMENT,
    "/sign-in/second-factor": "shown only where the settings demand a second factor of staff",
    "/account/sign-in/second-factor": "nothing demands a second factor of customers' users",
    "/account/developer/sandbox/key/{id}/disable": _NO_SANDBOX,
}
# The beginnings of paths whose parameters are not called like a thing. The longest one counts.
BEGINNINGS: Mapping[str, str] = {
    "/bank-file/{id}": "/bank-file/{bank_file}",
    "/bank-line/{id}": "/bank-line/{bank_line}",
    "/credit-note/{number}": "/credit-note/{credit_note}",
    "/customer/{id}": "/customer/{customer}",
    "/import/{id}": "/import/{import_run}",
    "/invoice/{number}": "/invoice/{invoice}",
    "/invoice/{number}/credit-note": "/invoice/{unpaid}/credit-note",
    "/job/{id}": "/job/{job}",
    "/order/new/{id}": "/order/new/{customer}",
    "/order/{reference}": "/order/{order}",
    "/order/{reference}/amend": "/order/{ready}/amend",
    "/order/{reference}/cancel": "/order/{ready}/cancel",
    "/order/{reference}/confirm": "/order/{pending}/confirm",
    "/order/{reference}/dispatch": "/order/{ready}/dispatch",
    "/order/{reference}/invoice": "/order/{dispatched}/invoice",
    "/order/{reference}/shipment/{id}": "/order/{order}/shipment/{shipment}",
    "/payment/{id}": "/payment/{payment}",
    "/quote/{code}": "/quote/{quote}",
    "/quote/{code}/confirm": "/quote/{priced_quote}/confirm",
    "/request/{id}": "/request/{request}",
    "/return/{number}": "/return/{returned}",
    "/staff/{id}": "/staff/{member}",
    "/token/{id}": "/token/{token}",
    "/view/{id}": "/view/{view}",
    "/webhook/{id}": "/webhook/{webhook}",
    "/account/approval/{code}": "/account/approval/{approval}",
    "/account/developer/feed/{id}": "/account/developer/feed/{feed}",
    "/account/developer/key/{id}": "/account/developer/key/{key_id}",
    "/account/developer/webhook/{id}": "/account/developer/webhook/{webhook}",
    "/account/invoice/credit-note/{number}": "/account/invoice/credit-note/{credit_note}",
    "/account/invoice/{number}": "/account/invoice/{invoice}",
    "/account/list/{id}": "/account/list/{saved_list}",
    "/account/new-order/{code}": "/account/new-order/{pending}",
    "/account/order/{reference}": "/account/order/{order}",
    "/account/order/{reference}/ask/{kind}": "/account/order/{order}/ask/return",
    "/account/quote/{code}": "/account/quote/{priced_quote}",
    "/account/quote-link/{secret}": "/account/quote-link/{quote_secret}",
    "/account/user/{id}": "/account/user/{user_id}",
}
# What pages are asked for that show nothing, or not the most, without it.
QUERIES: Mapping[str, str] = {
    "/money/remind": "?customer={customer}",
    "/contract-price": "?sku={sku}",
    "/order/many/dispatch": "?order={waiting}&order={part}&order={ready}",
    "/order/many/invoice": "?order={dispatched}",
    "/order/many/pick": "?order={waiting}&order={part}&order={ready}",
    "/payment/new": "?invoice={unpaid}",
    "/product-change": "?sku={sku}&sku={spare}",
    "/product-form": "?sku={sku}",
    "/search": "?q=cable",
    "/set-password": "?token={invitation_of_member}",
    "/stock-adjustment": "?sku={sku}",
    "/view/new": "?of=%2Forder%3Fsort%3D-total",
    "/account/basket/shared": "?item=2:{sku}&item=3:{spare}",
    "/account/list/add": "?sku={sku}",
    "/account/list/new": "?source={order}",
    "/account/product/compare": "?sku={sku}&sku={spare}",
    "/account/search": "?q=bench",
    "/account/set-password": "?token={invitation_of_user}",
    CONSENT_PATH: "?response_type=code&prompt=consent&client_id={client_id}&redirect_uri={redirect_uri}"
    "&code_challenge={code_challenge}&code_challenge_method=S256",
}
# Pages that take another way with filters, sorts and other things.
FURTHER: Mapping[PageSite, Sequence[str]] = {
    BACK_OFFICE: (
        "/order?sort=-total",
        "/order?sort=total&after={total}",
        "/order?status=Awaiting%20dispatch",
        "/order?status=Awaiting%20dispatch&sort=-total",
        "/order?status=Back-ordered",
        "/order?status=Cancelled",
        "/order?state=confirmed&sort=-total",
        "/order?reference=1",
        "/order?sku={sku}&sort=-total",
        "/order?sku={unsold}",
        "/order?customer_id={customer}",
        "/order/{waiting}",
        "/order/many/invoice?order={order}",
        "/product?query=24+port+swicth",
        "/customer?query=bench",
        "/money?sort=-over_90",
        "/vat?from={year}-01-01&to={year}-12-31",
        "/vat/document?from={year}-01-01&to={year}-12-31",
        "/vat/document?from={year}-01-01&to={year}-12-31&supply=export",
        "/invoice?sort=gross&after={gross}",
        "/invoice?issued_from={year}-01-01&issued_to={year}-12-31&sort=-due",
        "/payment?sort=-amount",
        "/price-change?category={category}",
        "/search?q=bench",
    ),
    ACCOUNT: (
        "/account/order?reference=1",
        "/account/product?page=900",
        "/account/product?sort=price",
        "/account/product?inStock=true&price=20-50&price=50-100",
        "/account/product?category={category}",
        "/account/product?category={category}&manufacturer={manufacturer}&sort=name",
        "/account/product?query=24+port+swicth",
        "/account/product?query=e",
        "/account/search?live=1&q=wifi",
    ),
}


def pages_of(site: PageSite) -> list[PageOperation]:
    """Return the pages of a site, those first that ask for the password again some time after the sign-in."""
    subjects = OFFICE_SUBJECTS if site is BACK_OFFICE else (*ACCOUNT_SUBJECTS, ConsentPages)
    all_subjects = (*subjects, *(placed(subject, site) for subject in SIGN_IN_SUBJECTS))
    found = [each for subject in all_subjects for each in operations_of(subject)]
    pages = [each for each in found if isinstance(each, PageOperation) and each.method == "GET"]
    return sorted(pages, key=lambda page: not page.dangerous)


def address_of(path: str) -> str:
    """Return the address of a page, with the names of things, by its path with the names of its parameters."""
    fitting = [beginning for beginning in BEGINNINGS if re.match(rf"{re.escape(beginning)}(/|$)", path)]
    beginning = max(fitting, key=len, default="")
    return path.replace(beginning, BEGINNINGS.get(beginning, ""), 1) + QUERIES.get(path, "")
