"""`/product-form`: adds or changes a product with its prices. It is not below `/product`, where all paths are SKUs."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import count
from typing import Annotated, Any
from urllib.parse import quote

from msgspec import UNSET, Meta, Struct
from msgspec.structs import fields, replace
from starlette.responses import Response

from tradecounter.access.links import public_address
from tradecounter.bulk.statements import stored_keys
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.submitted_forms import MOST_BYTES, Submitted, read_submitted
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.responses import STATUS
from tradecounter.imports.from_forms import PriceFields, SavedProduct, SaveOutcome, save_product
from tradecounter.imports.kinds import IMPORTERS
from tradecounter.imports.pages.staff.attribute_fields import ADD, AttributeFields, read_attributes, shown_attributes
from tradecounter.kit.digest import seen_of
from tradecounter.kit.errors import DomainError, invalid, named_by
from tradecounter.kit.keys import ExternalId, key_form
from tradecounter.kit.numbers import Kilograms, Millimetres, Pounds
from tradecounter.kit.text import plural
from tradecounter.kit.wire import made_from
from tradecounter.parts.back_office import OfficeParts
from tradecounter.prices.queries.prices_of_products import ListPrice, list_prices_of
from tradecounter.products.import_rows import DocumentRow, ProductRow
from tradecounter.products.on_pages import categories_in_tree
from tradecounter.products.picture_addresses import loadable_picture
from tradecounter.products.pictures import LARGEST_PICTURE, keep_picture, read_picture
from tradecounter.products.queries.pictures import Picture
from tradecounter.products.queries.products import fetch_product, find_product_row
from tradecounter.products.queries.records import read_reference
from tradecounter.products.wire import ProductImage
from tradecounter.stock.importing import StockRow, Units

_PATH = "/product-form"
_TEMPLATE = "imports/product_form.html"
_NEW_CATEGORIES = 2  # fields of a new product; others have an empty one beside their categories
_TYPED_AS_LINES = ("images", "documents")
_EMPTY: Mapping[str, Any] = dict.fromkeys(field.encode_name for field in fields(ProductRow))


class ProductFormPage(Struct, frozen=True):
    """The product to change; without one, the form adds one. `like` is the SKU of a product to copy."""

    sku: str = ""
    like: str = ""


class PictureFields(Struct):
    """A picture of a product: its address, its place among the others, and whether it is removed."""

    url: str
    place: Annotated[int, Meta(ge=1, le=999)] | None = None
    remove: bool = False


class ProductForm(Struct, kw_only=True):
    """A product's fields. An empty field has no value. A long list has one entry per line."""

    sku: Annotated[str, Meta(max_length=200)]
    name: str
    manufacturer: str
    seen: str | None = None
    like: str | None = None
    ean: str | None = None
    short_description: str | None = None
    description: str | None = None
    description_html: str | None = None
    categories: list[str] = []
    attributes: list[AttributeFields] = []
    add_attribute: str | None = None
    pictures: list[PictureFields] = []
    images: str = ""
    documents: str = ""
    related_products: str = ""
    similar_products: str = ""
    store_url: str | None = None
    weight_kg: Kilograms | None = None
    box_width_mm: Millimetres | None = None
    box_height_mm: Millimetres | None = None
    box_length_mm: Millimetres | None = None
    consumer_unit_cost: Pounds | None = None
    purchase_cost: Pounds | None = None
    clearance_product: bool = False
    configurable: bool = False
    active: bool = False
    external_id: ExternalId | None = None
    prices: list[PriceFields] = []
    available: Units | None = None
    location: Annotated[str, Meta(max_length=50)] | None = None
    force: bool = False


class PriceOnList(Struct, frozen=True):
    """A price list in the form; `price` is None if the product is not on it."""

    number: int
    price_list: str
    price: ListPrice | None


class PictureRow(Struct, frozen=True):
    """A picture in the form; `shown` is the address from which a page may load it, if any."""

    number: int
    url: str
    shown: str | None


class ProductFormPages(Struct, frozen=True):
    """The form of a product."""

    desk: PageDesk
    parts: OfficeParts

    @page(_PATH, "Add or change a product", scope="catalogue:write", roles=IMPORTERS, query=ProductFormPage)
    async def show_form(self, call: Call) -> Response:
        wanted = call.query(ProductFormPage)
        return await self._show(call, wanted.sku, Filled(), like=wanted.like)

    @form(_PATH, "Add or change a product", scope="catalogue:write", roles=IMPORTERS)
    async def save(self, call: Call) -> Response:
        submitted = await read_submitted(call, most_bytes=LARGEST_PICTURE + MOST_BYTES, most_files=1)
        is_new = not submitted.one("seen")
        picture = None

        async def again(filled: Filled) -> Response:
            if picture is not None:
                lost = "choose the file again: it was not saved"
                filled = replace(filled, errors={**filled.errors, "picture": lost})
            return await self._show(call, "" if is_new else submitted.one("sku"), filled, like=submitted.one("like"))

        if submitted.one("preview"):  # with one attribute more; nothing is saved
            submitted.close()
            return await again(Filled(submitted.values, files=frozenset(submitted.files)))
        try:
            picture = await _picture(submitted)
        except DomainError as error:
            submitted.close()
            return await again(Filled.of(submitted, error, STATUS[error.kind]))

        async def work(tx: Transaction, body: ProductForm, now: datetime) -> SaveOutcome:
            if picture is not None:
                path = await keep_picture(tx, picture, now)
                body.images = f"{body.images} {public_address(self.parts.settings.base_url, path)}"
            if body.add_attribute:
                raise invalid(ADD, "has no value yet: fill in its field, which is there now, or leave it empty")
            wanted = await _wanted(tx, body, is_new=is_new)
            with named_by(_in_its_field):
                return await save_product(tx, wanted, now)

        return await self.desk.change(
            call,
            ProductForm,
            work,
            again=again,
            to=lambda saved: f"/product/{quote(saved.sku)}",
            done=lambda saved: _done_message(saved, is_new=is_new),
            submitted=submitted,
        )

    async def _show(self, call: Call, sku: str, filled: Filled, like: str = "") -> Response:
        sku = text("sku", sku) or ""
        named = sku or text("like", like)
        async with self.desk.reading() as tx:
            row: Mapping[str, Any] = {}
            prices: Sequence[ListPrice] = ()
            if named:
                product = (await fetch_product(tx, named)).record
                row = await find_product_row(tx, key_form(product.sku)) or {}
                prices = await list_prices_of(tx, product.id)
            lists = await stored_keys(tx, "price_list")
            known = await read_reference(tx)
        category_keys = [key for key in filled.values.get("categories") or row.get("categories", []) if key]
        return self.desk.show(
            call,
            _TEMPLATE,
            form=filled,
            sku=row["sku"] if sku else "",
            like="" if sku else like,
            product=row if sku else {**_EMPTY, **row, "ean": None, "external_id": None, "active": True},
            listed=_listed(row),
            linked=_linked({name: filled.value(name, lines) for name, lines in _listed(row).items()}),
            seen=seen_of([row, prices]) if sku else "",
            prices=_price_rows(list(dict.fromkeys(["default", *lists])), prices, filled),
            categories=[*category_keys, *[""] * max(1, _NEW_CATEGORIES - len(category_keys))],
            picture_rows=_picture_rows(row, filled),
            category_names=categories_in_tree(known.categories),
            manufacturers=[(manufacturer.key, manufacturer.name) for manufacturer in known.manufacturers],
            attributes=shown_attributes(known.attributes, row.get("attributes", {}), filled),
        )


async def _wanted(tx: Transaction, body: ProductForm, *, is_new: bool) -> SavedProduct:
    """Return what the form says of the product. Raises DomainError (invalid)."""
    before = await find_product_row(tx, key_form(body.like or body.sku)) or {}
    known = (await read_reference(tx)).attributes
    return SavedProduct(
        product=_product(body, read_attributes(body.attributes, known, before.get("attributes", {}))),
        prices=body.prices,
        stock=_stock(body) if is_new else None,
        seen=body.seen,
        force=body.force,
    )


async def _picture(submitted: Submitted) -> Picture | None:
    """Return the picture that the form has uploaded, or None. Raises DomainError (invalid)."""
    file = submitted.files.get("picture")
    content = b"" if file is None else await file.read()
    return await read_picture(content, "picture") if content else None


def _picture_rows(row: Mapping[str, Any], filled: Filled) -> list[PictureRow]:
    """Return the pictures that the form sent, or else those of the product, the primary one first."""
    sent = [filled.value(f"pictures-{number}-url") for number in filled.rows("pictures")]
    images = (
        [{"is_primary": not n, "url": url} for n, url in enumerate(sent)] if filled.values else row.get("images", [])
    )
    urls = [image["url"] for image in sorted(images, key=lambda image: not image["is_primary"])]
    return [PictureRow(number, url, loadable_picture(url)) for number, url in enumerate(urls)]


def _price_rows(names: Sequence[str], prices: Sequence[ListPrice], filled: Filled) -> list[PriceOnList]:
    """Return a row for each list. A list that the form sent keeps its number."""
    of_list = {price.price_list: price for price in prices}
    sent = {filled.value(f"prices-{number}-price_list"): number for number in filled.rows("prices")}
    unused = count(max(sent.values(), default=-1) + 1)
    return [PriceOnList(sent[name] if name in sent else next(unused), name, of_list.get(name)) for name in names]


def _listed(row: Mapping[str, Any]) -> dict[str, str]:
    """Return a product's lists as texts with one entry per line."""
    entries = {
        "documents": [f"{document['name']} {document['url']}" for document in row.get("documents", [])],
        "related_products": row.get("related_products", []),
        "similar_products": row.get("similar_products", []),
    }
    return {name: "\n".join(found) for name, found in entries.items()}


def _linked(listed: Mapping[str, str]) -> str:
    """Return what a product's lists refer to, on one line: SKUs of products, and names of documents."""
    documents = [line.rpartition(" ")[0] or line for line in _lines(listed["documents"])]
    return ", ".join([*_lines(listed["related_products"]), *_lines(listed["similar_products"]), *documents])


def _product(body: ProductForm, attributes: dict[str, str]) -> ProductRow:
    """Return the row of an import that sets the fields of the form, and no others. Raises DomainError (invalid)."""
    return made_from(
        body,
        ProductRow,
        categories=list(dict.fromkeys(body.categories)),
        attributes=attributes,
        images=_images(body),
        documents=_documents(body.documents),
        related_products=_lines(body.related_products),
        similar_products=_lines(body.similar_products),
        manufacturer_name=UNSET,
        components=UNSET,
    )


def _images(body: ProductForm) -> list[ProductImage]:
    """Return the remaining pictures by their places, then new ones; the first one is primary."""
    kept = sorted(
        (picture for picture in body.pictures if not picture.remove), key=lambda each: each.place or len(body.pictures)
    )
    urls = dict.fromkeys([*(each.url for each in kept), *body.images.split()])
    return [ProductImage(is_primary=not place, url=url) for place, url in enumerate(urls)]


def _lines(listed: str) -> list[str]:
    return [line.strip() for line in listed.splitlines() if line.strip()]


def _documents(listed: str) -> list[DocumentRow]:
    documents = []
    for line in _lines(listed):
        name, _, url = line.rpartition(" ")
        if not name.strip():
            raise invalid("documents", f"{line[:40]!r} is not a name and an address, separated by a space")
        documents.append(DocumentRow(name.strip(), url))
    return documents


def _in_its_field(place: str) -> str:
    """Return the form's field for a place in the product: `images` for `images[0].url`."""
    name, _, _ = place.partition("[")
    return name if name in _TYPED_AS_LINES else place


def _stock(body: ProductForm) -> StockRow | None:
    if body.available is None and body.location is None:
        return None
    return StockRow(body.sku, body.available or 0, body.location or "")


def _done_message(saved: SaveOutcome, *, is_new: bool) -> str:
    if is_new:
        return f"{saved.sku} is added.{saved.warnings}"
    if not saved.changed:
        return f"Nothing of {saved.sku} was different."
    concerned = f" The prices of {plural(saved.customers, 'customer')} change." if saved.customers else ""
    return f"{saved.sku} is changed.{concerned}{saved.warnings}"
