"""The choice between CSV and JSON on `GET /product`, and the exact bytes of both."""

import pytest

from support.service import Customer, Service
from support.shop import price, product

CSV_TYPE = "text/csv; charset=utf-8"
JSON_TYPE = "application/json"

HEADER = (
    "sku,ean,name,manufacturer,weight_kg,box_width_mm,box_height_mm,box_length_mm,clearance_product,images,"
    "availability.available,availability.status,availability.incoming,"
    "single_unit_cost,five_plus_unit_cost,ten_plus_unit_cost,consumer_unit_cost,store_url,categories,attributes"
)
EVERY_EXTRA = "description,description_html,short_description,related,similar"


@pytest.fixture(scope="module")
def customer(service: Service) -> Customer:
    service.must_load("manufacturers", [{"key": "acme", "name": "Acme"}])
    service.must_load("categories", [{"key": key, "name": key, "children": None} for key in ("one", "two")])
    service.must_load("attributes", [{"key": key, "name": key, "type": "string"} for key in ("size", "colour")])
    service.must_load(
        "products",
        [
            product("PLAIN", weight_kg=None), product("UNPRICED"), product("INACTIVE", active=False),
            product(
                'Q"1, x', ean="0123456789012", name='9" rack,\r\nblack', weight_kg="1.250", box_width_mm=1000,
                box_height_mm="0.5", clearance_product=True, consumer_unit_cost="1234.5", store_url="https://s.example/?a=1,2",
                images=[{"url": "https://i.example/1", "is_primary": True}], categories=["one", "two"],
                attributes={"size": 'L, "long"', "colour": "röd"},
                description="Line 1\nLine 2", description_html="<p>é</p>", short_description="",
                related_products=["PLAIN", "UNPRICED", 'Q"1, x'], similar_products=["INACTIVE", "PLAIN"],
            ),
        ],
    )  # fmt: skip
    service.must_load("price-list", [price("PLAIN", "0.05"), price('Q"1, x', 1000, "999.9", "0.00")])
    service.must_load("stock", [{"sku": "PLAIN", "available": 12}])
    service.must_load("incoming", [{"sku": 'Q"1, x', "incoming": 3, "expected_on": "2026-12-24T13:45:59"}])
    return service.customer()


@pytest.mark.sweep(every=6)
@pytest.mark.spec("1 Content negotiation", "the Accept header chooses the format, the accept parameter overrides it")
@pytest.mark.spec("4 GET /product", "as JSON or CSV, in pages")
@pytest.mark.spec("9 Versioning", "JSON in general, CSV for the two lists without an Accept header")
@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (None, CSV_TYPE),
        ("", CSV_TYPE),
        ("*/*", CSV_TYPE),
        ("text/html", CSV_TYPE),
        ("text/*", CSV_TYPE),
        ("text/csv", CSV_TYPE),
        ("image/png", CSV_TYPE),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", CSV_TYPE),
        ("application/json", JSON_TYPE),
        ("application/*", JSON_TYPE),
        ("Application/JSON; charset=utf-8", JSON_TYPE),
        ("application/json, text/plain, */*", JSON_TYPE),
        ("text/csv, application/json", CSV_TYPE),
        ("application/json, text/csv", JSON_TYPE),
        ("text/csv;q=0.5, application/json;q=0.6", JSON_TYPE),
        ("application/json;q=0.5, text/html", CSV_TYPE),
        ("application/json;q=0", CSV_TYPE),
        ("text/csv;q=0, */*", JSON_TYPE),
    ],
)
def test_the_accept_header_chooses_the_format(
    service: Service, customer: Customer, accept: str | None, expected: str
) -> None:
    client = service.client(**{"X-Api-Key": customer.key})
    del client.headers["Accept"]
    response = client.get("/product", headers=[] if accept is None else [("Accept", accept)])
    assert response.request.headers.get("Accept") == accept
    assert (response.status_code, response.headers["Content-Type"]) == (200, expected)


def test_an_accept_header_on_several_lines_counts_as_one(customer: Customer) -> None:
    client = customer.http
    lines = [("Accept", "text/csv;q=0.1"), ("Accept", "application/json")]
    request = client.build_request("GET", "/product")
    del request.headers["Accept"]
    request.headers = type(request.headers)([*request.headers.raw, *((n.encode(), v.encode()) for n, v in lines)])
    assert client.send(request).headers["Content-Type"] == JSON_TYPE


@pytest.mark.spec("1 Content negotiation", "the Accept header chooses the format, the accept parameter overrides it")
@pytest.mark.parametrize(
    ("accept", "parameter", "expected"),
    [
        ("application/json", "text/csv", CSV_TYPE),
        ("application/json", "text%2Fcsv", CSV_TYPE),
        ("text/csv", "application/json", JSON_TYPE),
        ("text/csv;q=1, application/json;q=0", "application/json", JSON_TYPE),
        ("application/json", "", JSON_TYPE),
    ],
)
def test_the_accept_parameter_overrides_the_header(
    customer: Customer, accept: str, parameter: str, expected: str
) -> None:
    response = customer.get(f"/product?accept={parameter}", headers={"Accept": accept})
    assert response.headers["Content-Type"] == expected


@pytest.mark.spec("1 Content negotiation", "the Accept header chooses the format, the accept parameter overrides it")
@pytest.mark.parametrize(
    "value", ["text/html", "application/xml", "*/*", "json", "TEXT/CSV", "text/csv,text/csv", "null"]
)
def test_an_unknown_accept_parameter_is_rejected(customer: Customer, value: str) -> None:
    response = customer.get("/product", params={"accept": value})
    assert response.status_code == 400
    assert response.json()["message"] == f"accept: {value!r} is not one of application/json, text/csv"


def test_an_error_is_json_even_when_csv_is_requested(customer: Customer) -> None:
    response = customer.get("/product?sort=colour", headers={"Accept": "text/csv"})
    assert (response.status_code, response.headers["Content-Type"]) == (400, JSON_TYPE)
    assert response.json()["message"] == "sort: 'colour' is not one of price, availability, sku, name"


@pytest.mark.spec("1 General rules", "responses are JSON unless stated")
@pytest.mark.spec("1 Content negotiation", "all other endpoints respond in JSON")
@pytest.mark.spec("4 GET /product/{sku}", "any case; JSON; with its descriptions")
def test_one_product_is_json_whatever_the_accept_header(customer: Customer) -> None:
    response = customer.get("/product/plain?accept=text/csv", headers={"Accept": "text/csv"})
    assert (response.status_code, response.headers["Content-Type"]) == (200, JSON_TYPE)


@pytest.mark.spec("4 GET /product", "as JSON or CSV, in pages")
def test_csv_follows_rfc_4180(customer: Customer) -> None:
    response = customer.get("/product", headers={"Accept": "text/csv"})
    assert response.content.decode() == (
        f"{HEADER}\r\n"
        "PLAIN,,Product PLAIN,acme,0,0,0,0,false,[],12,In stock,[],0.05,0.05,0.05,0.00,,,{}\r\n"
        '"Q""1, x",0123456789012,"9"" rack,\r\nblack",acme,1.25,1000,0.5,0,true,'
        '"[{""is_primary"":true,""url"":""https://i.example/1""}]",0,On order,'
        '"[{""incoming"":3,""expected_on"":""2026-12-24T13:45:59""}]",'
        '1000.00,999.90,0.00,1234.50,"https://s.example/?a=1,2",one|two,'
        '"{""colour"":""röd"",""size"":""L, \\""long\\""""}"\r\n'
    )


def test_csv_has_its_extra_columns_at_the_end_in_a_fixed_order(customer: Customer) -> None:
    response = customer.get(
        "/product?extra=similar,related,short_description,description_html,description&accept=text/csv"
    )
    lines = response.content.decode().split("\r\n", 2)
    added = ",description,description_html,short_description,related_products,similar_products"
    assert lines[0] == HEADER + added
    assert lines[1].endswith("{},,,,,")
    assert lines[2].endswith(',"Line 1\nLine 2",<p>é</p>,,"PLAIN|Q""1, x",PLAIN\r\n')


def test_related_and_similar_products_are_those_that_the_customer_can_buy(service: Service, customer: Customer) -> None:
    path = "/product/Q%221%2C%20x?extra=related,similar"
    links = ("related_products", "similar_products")
    shown = customer.get(path).json()
    assert [shown[name] for name in links] == [["PLAIN", 'Q"1, x'], ["PLAIN"]]
    other = service.customer()
    contract = {"customer_id": other.id, "sku": "UNPRICED", "single_unit_cost": 1}
    service.must_load("contract-prices", [contract])
    service.refresh()
    shown = other.get(path).json()
    assert [shown[name] for name in links] == [["PLAIN", "UNPRICED", 'Q"1, x'], ["PLAIN"]]


def test_csv_without_products_has_only_the_header(customer: Customer) -> None:
    response = customer.get("/product?manufacturer=nobody&extra=related&accept=text/csv")
    assert (response.status_code, response.content.decode()) == (200, f"{HEADER},related_products\r\n")


@pytest.mark.spec("1 General rules", "prices are numbers; gross is net and tax")
def test_json_has_amounts_and_sizes_as_plain_numbers(customer: Customer) -> None:
    response = customer.get("/product/Q%221%2C%20x?extra=related")
    assert response.content.decode() == (
        r'{"sku":"Q\"1, x","ean":"0123456789012","name":"9\" rack,\r\nblack","manufacturer":"acme","weight_kg":1.25,'
        '"box_width_mm":1000,"box_height_mm":0.5,"box_length_mm":0,"clearance_product":true,'
        '"images":[{"is_primary":true,"url":"https://i.example/1"}],'
        '"availability":{"available":0,"status":"On order",'
        '"incoming":[{"incoming":3,"expected_on":"2026-12-24T13:45:59"}]},'
        '"single_unit_cost":1000.00,"five_plus_unit_cost":999.90,"ten_plus_unit_cost":0.00,"consumer_unit_cost":1234.50,'
        r'"description":"Line 1\nLine 2","short_description":"","store_url":"https://s.example/?a=1,2",'
        r'"categories":["one","two"],"attributes":{"colour":"röd","size":"L, \"long\""},'
        r'"related_products":["PLAIN","Q\"1, x"]}'
    )


@pytest.mark.spec("2 Product", "extra fields are present only on request; descriptions always on one product")
@pytest.mark.spec("4 GET /product", "extra: fields to add")
@pytest.mark.parametrize(
    ("extra", "added"),
    [
        ("", set()),
        ("description", {"description"}),
        ("description_html,short_description", {"description_html", "short_description"}),
        ("related%2Csimilar", {"related_products", "similar_products"}),
        ("related&extra=similar", {"related_products", "similar_products"}),
        ("related,related", {"related_products"}),
        (EVERY_EXTRA, {"description", "description_html", "short_description", "related_products", "similar_products"}),
    ],
)
def test_extra_fields_are_present_only_when_requested(customer: Customer, extra: str, added: set[str]) -> None:
    basic = {name.split(".")[0] for name in HEADER.split(",")}
    for found in customer.get(f"/product?extra={extra}").json():
        assert set(found) == basic | added
    always = {"description", "short_description"}
    assert set(customer.get(f"/product/PLAIN?extra={extra}").json()) == basic | added | always


def test_requested_empty_fields_are_present(customer: Customer) -> None:
    shown = customer.get(f"/product/PLAIN?extra={EVERY_EXTRA}").json()
    assert [shown[name] for name in ("description", "description_html", "short_description")] == ["", "", ""]
    assert [shown[name] for name in ("related_products", "similar_products")] == [[], []]
    assert shown["ean"] is None


@pytest.mark.parametrize("path", ["/product", "/product?accept=text/csv", "/product/PLAIN", "/category"])
def test_head_has_the_same_response_as_get_without_the_body(customer: Customer, path: str) -> None:
    got, head = customer.get(path), customer.http.head(path)
    varying = {"date", "x-request-id"}
    assert head.content == b""
    assert sorted((n, v) for n, v in head.headers.multi_items() if n not in varying) == sorted(
        (n, v) for n, v in got.headers.multi_items() if n not in varying
    )
