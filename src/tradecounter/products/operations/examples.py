"""Examples of products for the back office's interface document."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal

from tradecounter.edge.operations.subject import Described
from tradecounter.orders.back_orders.adjust_stock import AdjustedStock, Adjustment
from tradecounter.prices.explain_price import ExplainedPrice, PriceCandidate
from tradecounter.prices.queries.prices_of_product import ContractPrice, ListPrice
from tradecounter.products.operations import wire as products

_AT = datetime(2026, 6, 16, 9, 12, 44, tzinfo=UTC)
_PRODUCT = products.ResellerProduct(
    sku="CV-320P",
    name="Convoy 320P desk phone",
    manufacturer="convoy",
    ean="5012345678900",
    active=True,
    external_id="ERP-CV320",
    weight_kg=Decimal("1.1"),
    clearance_product=False,
    configurable=False,
    categories=["desk-phones"],
    short_description="A desk phone with six lines",
    description="Six lines, a colour display and PoE.",
    description_html="<p>Six lines, a colour display and PoE.</p>",
    images=[products.ProductImage("https://pictures.example/cv-320p.jpg", is_primary=True)],
    documents=[products.ProductDocument("Datasheet", "https://pictures.example/cv-320p.pdf")],
    attributes={"lines": "6", "poe": "true"},
    related_products=["CV-PSU"],
    similar_products=["CV-445G"],
    store_url="https://shop.example/cv-320p",
    box_width_mm=Decimal(210),
    box_height_mm=Decimal(90),
    box_length_mm=Decimal(230),
    purchase_cost=Decimal("61.20"),
    consumer_unit_cost=Decimal("99.00"),
    stock=products.Stock(120, 114, 6, 0, "A-03-2"),
    deliveries=[products.ExpectedDelivery(_AT.replace(month=7), 50)],
    prices=[ListPrice("default", Decimal("82.00"), Decimal("79.00"), Decimal("75.90"))],
    contract_prices=[ContractPrice(1001, date(2026, 1, 1), date(2026, 12, 31), Decimal("70.00"), None, None)],
)

_PRICE = ExplainedPrice(
    sku="CV-320P",
    customer_id=1001,
    quantity=5,
    unit_cost=Decimal("77.03"),
    break_=5,
    rule="default",
    discount=Decimal("2.50"),
    candidates=[
        PriceCandidate(
            rule="default",
            price_list="default",
            valid_from=None,
            valid_until=None,
            single_unit_cost=Decimal("82.00"),
            five_plus_unit_cost=Decimal("79.00"),
            ten_plus_unit_cost=Decimal("75.90"),
            applies=True,
            why="the customer has no price list of its own",
        )
    ],
)


DESCRIBED: Mapping[type, Described] = {
    products.ListedProduct: Described(
        "The product.",
        products.ListedProduct(**{name: getattr(_PRODUCT, name) for name in products.ListedProduct.__struct_fields__}),
    ),
    products.ResellerProduct: Described("The product.", _PRODUCT, "Product"),
    ExplainedPrice: Described("The price.", _PRICE, "Price"),
    products.AdjustmentRequest: Described(
        "", products.AdjustmentRequest([Adjustment(sku="CV-320P", reason="Stocktake", set=120)])
    ),
    products.AdjustmentResult: Described(
        "The stock of each product.", products.AdjustmentResult([AdjustedStock("CV-320P", 120, 114, 6, 0)])
    ),
}
