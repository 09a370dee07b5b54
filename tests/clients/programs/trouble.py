"""Does what its first argument names, and prints what came of it: something, or the class of the error."""

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tradecounter_client import Consent, Tradecounter, verified_event
from tradecounter_client.models import AddressDetails

url, key = os.environ["BASE"], os.environ.get("KEY", "any")
shop = Tradecounter(url, key, timeout=1, attempts=int(os.environ.get("ATTEMPTS", "6")))
case, *arguments = sys.argv[1:]


def name(work: Callable[[], object]) -> str:
    try:
        work()
    except Exception as error:  # noqa: BLE001 its class is printed
        return type(error).__name__
    return "none"


def webhook() -> object:
    headers, body = json.loads(os.environ["HEADERS"]), os.environ["BODY"].encode()
    return name(lambda: verified_event(os.environ["SECRET"], headers, body))


def address() -> object:
    wanted = AddressDetails(
        contact_name="Ada Example", street_one="1 Test Street", city="York", zip="YO1 1AA", country_code="GB"
    )
    return shop.add_address(wanted).id


def decline() -> object:
    return [shop.decline_quote(arguments[0]).status for _ in range(3)]


def delete() -> object:
    return [name(lambda: shop.delete_address(int(arguments[0]))) for _ in range(2)]


def slow() -> object:
    return [len(shop.categories()), name(shop.manufacturers)]


def first() -> object:
    batch = next(iter(shop.sync("")))
    return [batch.whole, len(batch.products)]


def blank() -> object:
    return [product.sku for product in shop.products_by_sku(["", " "])]


def dots() -> object:
    return [name(partial(read, text)) for text in (".", "..") for read in (shop.product, shop.order)]


def unsaved() -> object:
    file, fails = Path(arguments[0]), iter((True, False, False))

    def save(token: str) -> None:
        if next(fails):
            raise OSError("the disk is full")
        file.write_text(token)

    acting = Tradecounter(url, credentials=consent(file.read_text(), save))
    return [name(acting.customer), name(acting.customer)]


def issuer() -> object:
    return name(Tradecounter(url, credentials=consent("any", print)).customer)


def consent(token: str, save: Callable[[str], object]) -> Consent:
    return Consent(os.environ.get("CLIENT_ID", "any"), os.environ.get("CLIENT_SECRET", "any"), token, save)


def mistake() -> object:
    try:
        Tradecounter(url, "first line\nsecret line").customer()
    except ValueError as error:
        return str(error)
    return None


def proxy() -> object:
    return shop.customer().last_name


sys.stdout.write(json.dumps(globals()[case]()))
