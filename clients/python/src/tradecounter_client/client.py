"""The client: a method for each operation of the API."""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self, TypeVar
from urllib.parse import quote

from tradecounter_client.catalogue_sync import Batch, batches
from tradecounter_client.connection import Connection, Parameter
from tradecounter_client.credentials import Credentials, Key
from tradecounter_client.models import (
    AddConfigurationsRequest,
    AddressDetails,
    Category,
    ConfirmOrderRequest,
    CreatedOrder,
    CreateOrderRequest,
    CreditOverview,
    Customer,
    CustomerCreditNote,
    CustomerInvoice,
    CustomerPayment,
    CustomerStatement,
    DeclineQuoteRequest,
    Event,
    LoggedRequest,
    Manufacturer,
    OpenRequestRequest,
    Order,
    OrderItem,
    OrderVideoResponse,
    Product,
    ProductAttribute,
    Quote,
    SavedAddress,
    SupportRequest,
)
from tradecounter_client.transport import Transport

Listed = TypeVar("Listed")

_SKUS_PER_REQUEST = 50
_PDF = "application/pdf"


class Tradecounter:
    """A customer's access to the API; any number of threads may share it.

    A request is sent up to `attempts` times within `patience` seconds where that can help; an attempt ends after
    `timeout` seconds without a byte. All methods raise ApiError, by the error's code, and NoResponse. Amounts are
    decimal pounds; times are UK local time without an offset, except those of events.
    """

    def __init__(
        self,
        base_url: str,
        key: str = "",
        *,
        credentials: Credentials | None = None,
        timeout: float = 30,
        attempts: int = 6,
        patience: float = 120,
    ) -> None:
        transport = Transport(base_url, timeout=timeout, attempts=attempts, patience=patience)
        self._api = Connection(transport, credentials or Key(key))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._api.transport.close()

    def products(self, **filters: Parameter) -> Iterator[Product]:
        """What the account can buy; filters are `query`, `manufacturer`, `category`, `inStock` and others."""
        return self._pages("/product", Product, filters)

    def products_by_sku(self, skus: Iterable[str], extra: Sequence[str] = ()) -> Iterator[Product]:
        """Those of some SKUs that the account can buy."""
        wanted = [sku for sku in skus if sku.strip()]  # without any, the service would list the whole catalogue
        for start in range(0, len(wanted), _SKUS_PER_REQUEST):
            part = wanted[start : start + _SKUS_PER_REQUEST]
            yield from self._pages("/product", Product, {"sku": part, "extra": extra})

    def product(self, sku: str, extra: Sequence[str] = ()) -> Product:
        return self._api.get(f"/product/{_part(sku)}", Product, {"extra": extra})

    def categories(self) -> list[Category]:
        return self._api.get("/category", list[Category])

    def manufacturers(self) -> list[Manufacturer]:
        return self._api.get("/manufacturer", list[Manufacturer])

    def attributes(self) -> list[ProductAttribute]:
        return self._api.get("/attribute", list[ProductAttribute])

    def sync(self, after: str | None, wait: int | None = None) -> Iterator[Batch]:
        """What brings a copy of the catalogue up to date: store each batch together with its cursor.

        `after` is the stored cursor; None gets the whole catalogue first. With `wait`, at most 20 seconds, the iterator
        never ends, and has a batch as soon as there is a change; without it, it ends when the copy is current.
        """
        return batches(self._api, after, wait)

    def create_order(self, order: CreateOrderRequest, idempotency_key: str | None = None) -> CreatedOrder:
        """Create a pending order; with `auto_confirm`, a confirmed one.

        However often it is sent, it is created once. Give a key that you have stored, and the order is created once
        even if the program dies and tries again; without one, each call makes a key of its own.
        """
        return self._post("/order", CreatedOrder, order, idempotency_key)

    def confirm_order(self, confirmation_code: str, options: ConfirmOrderRequest | None = None) -> CreatedOrder:
        path = f"/order/{_part(confirmation_code)}"
        return self._api.send("PUT", path, CreatedOrder, options or ConfirmOrderRequest())

    def orders(self, **filters: Parameter) -> Iterator[Order]:
        """Confirmed orders, newest first; filters are `customer_reference`, `status`, `changed_since` and others."""
        return self._pages("/order", Order, filters)

    def order(self, reference: str) -> Order:
        """One by its reference; a pending one by its confirmation code."""
        return self._api.get(f"/order/{_part(reference)}", Order)

    def add_configurations(self, reference: str, item_id: int, request: AddConfigurationsRequest) -> OrderItem:
        """Not sent again after a lost response: read the order then."""
        path = f"/order/{_part(reference)}/item/{item_id}/configuration"
        return self._api.send("POST", path, OrderItem, request, repeatable=False)

    def packing_video(self, reference: str) -> OrderVideoResponse:
        return self._api.get(f"/order/{_part(reference)}/video", OrderVideoResponse)

    def create_quote(self, quote: CreateOrderRequest, idempotency_key: str | None = None) -> CreatedOrder:
        """Ask for prices; keys are as those of `create_order`."""
        return self._post("/quote", CreatedOrder, quote, idempotency_key)

    def quotes(self) -> Iterator[Quote]:
        return self._pages("/quote", Quote, {})

    def quote(self, confirmation_code: str) -> Quote:
        return self._api.get(f"/quote/{_part(confirmation_code)}", Quote)

    def decline_quote(self, confirmation_code: str, request: DeclineQuoteRequest | None = None) -> Quote:
        path = f"/quote/{_part(confirmation_code)}/decline"
        return self._api.send("POST", path, Quote, request or DeclineQuoteRequest())

    def open_request(self, request: OpenRequestRequest, idempotency_key: str | None = None) -> SupportRequest:
        """Ask support to cancel, return or anything else; keys are as those of `create_order`."""
        return self._post("/request", SupportRequest, request, idempotency_key)

    def requests(self, **filters: Parameter) -> Iterator[SupportRequest]:
        return self._pages("/request", SupportRequest, filters)

    def customer(self) -> Customer:
        return self._api.get("/customer", Customer)

    def credit(self) -> CreditOverview:
        return self._api.get("/customer/credit", CreditOverview)

    def addresses(self) -> list[SavedAddress]:
        return self._api.get("/customer/address", list[SavedAddress])

    def add_address(self, address: AddressDetails) -> SavedAddress:
        """Not sent again after a lost response: read the addresses then."""
        return self._api.send("POST", "/customer/address", SavedAddress, address, repeatable=False)

    def replace_address(self, address_id: int, address: AddressDetails) -> SavedAddress:
        return self._api.send("PUT", f"/customer/address/{address_id}", SavedAddress, address)

    def delete_address(self, address_id: int) -> None:
        self._api.request("DELETE", f"/customer/address/{address_id}")

    def order_invoices(self, reference: str) -> bytes:
        """All invoices of an order, as a PDF file."""
        return self._api.request("GET", f"/order/{_part(reference)}/invoice", accept=_PDF).body

    def invoices(self, **filters: Parameter) -> Iterator[CustomerInvoice]:
        """Newest first: `order_reference`, `issued_from`, `issued_to`."""
        return self._pages("/invoice", CustomerInvoice, filters)

    def invoice(self, number: int) -> CustomerInvoice:
        return self._api.get(f"/invoice/{number}", CustomerInvoice)

    def invoice_file(self, number: int) -> bytes:
        """The PDF file."""
        return self._api.request("GET", f"/invoice/{number}", accept=_PDF).body

    def credit_notes(self, **filters: Parameter) -> Iterator[CustomerCreditNote]:
        return self._pages("/credit-note", CustomerCreditNote, filters)

    def credit_note(self, number: int) -> CustomerCreditNote:
        return self._api.get(f"/credit-note/{number}", CustomerCreditNote)

    def credit_note_file(self, number: int) -> bytes:
        """The PDF file."""
        return self._api.request("GET", f"/credit-note/{number}", accept=_PDF).body

    def payments(self, **filters: Parameter) -> Iterator[CustomerPayment]:
        return self._pages("/payment", CustomerPayment, filters)

    def statement(self, first: str | None = None, last: str | None = None) -> CustomerStatement:
        """The account between two UK days, such as 2026-03-01, both included."""
        return self._api.get("/statement", CustomerStatement, {"from": first, "to": last})

    def events(self, after: int = 0, types: Sequence[str] = (), wait: int | None = None) -> Iterator[Event]:
        """Events after a sequence, oldest first: store the sequence of each when it is handled.

        With `wait`, at most 20 seconds, the iterator never ends; without it, it ends when there is no further event.
        """
        while True:
            parameters: dict[str, Parameter] = {"after": after, "type": types, "limit": 500, "wait": wait}
            found = self._api.get("/event", list[Event], parameters, extra_time=wait or 0)
            yield from found
            if found:
                after = found[-1].sequence
            elif wait is None:
                return

    def request_log(self, limit: int = 100, *, errors: bool = False) -> list[LoggedRequest]:
        """The latest requests with this credential, at most 500: what the service saw of this program."""
        return self._api.get(
            "/request-log", list[LoggedRequest], {"limit": limit, "errors": "true" if errors else None}
        )

    def _post(self, path: str, kind: type[Listed], request: Any, idempotency_key: str | None) -> Listed:
        return self._api.send("POST", path, kind, request, idempotency_key=idempotency_key or str(uuid.uuid4()))

    def _pages(self, path: str, kind: type[Listed], filters: dict[str, Parameter]) -> Iterator[Listed]:
        page, pages = 1, 1
        while page <= pages:
            found, response = self._api.read(path, list[kind], {"limit": 500, **filters, "page": page})  # type: ignore[valid-type] # the type is known when it runs
            yield from found
            pages = int(response.headers.get("X-Total-Pages", page))
            page += 1


def _part(text: str) -> str:
    """A part of a path. To urllib3, `..` is a step up unless it is encoded."""
    return text.replace(".", "%2E") if text in {".", ".."} else quote(text, safe="")
