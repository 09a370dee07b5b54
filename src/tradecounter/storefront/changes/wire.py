"""A change of the catalogue on the wire, with examples."""

from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.products.wire import PRODUCT, Product


class CatalogueChange(Struct):
    """A product that differs from your copy, or that your copy must not have any more."""

    sku: Annotated[str, Meta(description="The product's SKU.")]
    change: Annotated[
        str,
        Meta(
            description="`changed`: store the product, which may be new. `removed`: delete it; you cannot buy it now, "
            "or its SKU is spelled in other case now, and `changed` follows.",
            examples=["changed"],
            extra_json_schema={"enum": ["changed", "removed"]},
        ),
    ]
    product: Annotated[Product | None, Meta(description="The whole product, as `GET /product` lists it; or null.")]


CHANGES = [CatalogueChange("CV-320P", "changed", PRODUCT), CatalogueChange("CV-310", "removed", None)]
