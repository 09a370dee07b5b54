"""The query parameters of the product endpoints (specification, section 4)."""

from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct

from tradecounter.edge.rest.negotiation import Accept
from tradecounter.edge.rest.paging import PageLimit, PageNumber
from tradecounter.edge.rest.parameters import Flag

MOST_SKUS = 200  # so that their links fit into the head of a response

Extra = Literal["description", "description_html", "short_description", "related", "similar"]
Sort = Literal["price", "availability", "sku", "name"]

Extras = Annotated[
    tuple[Annotated[str, Meta(extra_json_schema={"enum": list(get_args(Extra))})], ...],
    Meta(
        description="Fields to add: description, description_html, short_description, related, similar.",
        examples=["description,related"],
    ),
]


class ProductListParameters(Struct, rename={"in_stock": "inStock"}, frozen=True):
    """Query parameters of `GET /product`. Any value of a list may match; all parameters must."""

    sku: Annotated[
        tuple[str, ...],
        Meta(
            description=f"SKUs, at most {MOST_SKUS}; case does not matter. `X-Unknown-Sku` names those that you cannot "
            "buy.",
            examples=["CV-445G-R,CV-560G-R"],
        ),
    ] = ()
    manufacturer: Annotated[
        tuple[str, ...], Meta(description="Manufacturer keys.", examples=["corvane,fernquist"])
    ] = ()
    category: Annotated[
        tuple[str, ...],
        Meta(description="Category names or keys; a parent includes its children.", examples=["ip-phones"]),
    ] = ()
    query: Annotated[
        Annotated[str, Meta(max_length=500)] | None,
        Meta(
            description="Words. A product must have all of them, or words that begin so, in its SKU, EAN, name, "
            "manufacturer, categories, attributes' values or descriptions. Case, accents, punctuation and plurals do "
            "not matter. A mistyped word is corrected; `X-Corrected` says so. Without `sort`, the most relevant "
            "products come first.",
            examples=["ip phone"],
        ),
    ] = None
    attribute: Annotated[
        tuple[str, ...],
        Meta(
            description="Filters `name<op>value`, with = or, for numbers, also <, >, <=, >=. "
            "`GET /attribute` lists names and types.",
            examples=["ports>=2,poe=true"],
        ),
    ] = ()
    reduced: Annotated[
        Flag | None, Meta(description="`true`: only reduced products; `false`: no reduced products.", examples=["true"])
    ] = None
    clearance: Annotated[Flag | None, Meta(description="Another name for `reduced`.", examples=["true"])] = None
    in_stock: Annotated[Flag | None, Meta(description="`true`: only products in stock.", examples=["true"])] = None
    sort: Annotated[
        Sort | None,
        Meta(
            description="`price`, `sku` and `name` sort ascending, `availability` descending. Ties are sorted by SKU.",
            examples=["price"],
        ),
    ] = None
    extra: Extras = ()
    accept: Accept = None
    page: PageNumber | None = None
    limit: PageLimit | None = None


class ProductParameters(Struct, frozen=True):
    """Query parameters of `GET /product/{sku}`."""

    extra: Extras = ()
