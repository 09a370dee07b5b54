"""The specification's outline, and which tests prove each of its rules; `tests/contract/test_sections.py` watches it.

The table itself stands in this folder: by section, by rule in our own words, the tests that prove it, as
`folder/file::test` below `tests/`, without `test_` and `.py`.
"""

from support.sections.basics import BASICS
from support.sections.endpoints import ENDPOINTS
from support.sections.limits import LIMITS

Rules = dict[str, dict[str, list[str]]]

OUTLINE = (
    "1 General rules",
    "1 Content negotiation",
    "1 Pagination",
    "2 Product",
    "2 Order",
    "2 Order request",
    "2 CustomerAddress",
    "2 Customer",
    "2 CreditOverview",
    "2 Reference data",
    "2 OrderVideoResponse, Error, OAuthError",
    "3 POST /order, to be confirmed",
    "3 POST /order, confirmed at once",
    "3 POST /order, confirmed at once without a method",
    "3 POST /quote",
    "3 PUT /order/{reference}, in time",
    "3 PUT /order/{reference}, expired",
    "3 PUT /order/{reference}, without a method",
    "3 pending, by time",
    "4 GET /",
    "4 GET /check-health",
    "4 GET /ready",  # an addition
    "4 GET /openapi.json, GET /openapi.yaml",
    "4 GET /product",
    "4 GET /product/{sku}",
    "4 GET /order",
    "4 POST /order",
    "4 GET /order/{reference}",
    "4 PUT /order/{reference}",
    "4 POST /order/{reference}/item/{orderItemId}/configuration",
    "4 GET /order/{reference}/video",
    "4 GET /order/{reference}/invoice",
    "4 POST /quote",
    "4 GET /customer",
    "4 GET /customer/credit",
    "4 GET /customer/address",
    "4 POST /customer/address",
    "4 DELETE /customer/address/{id}",
    "4 GET /category",
    "4 GET /manufacturer",
    "4 GET /attribute",
    "4 POST /oauth/token",
    "5 Authentication",
    "6 Events",
    "7 Errors",
    "7 400",
    "7 401",
    "7 402",
    "7 403",
    "7 404",
    "7 409",
    "7 410",
    "7 412",
    "7 429",
    "7 500",
    "7 503",
    "7 504",
    "8 Page size",
    "8 Unpaginated CSV catalogue",
    "8 Price and stock cache",
    "8 Pending order lifetime",
    "8 Idempotency key",
    "8 Invalid-credential lockout",
    "8 Rate limit",
    "8 API key and bearer token length",
    "8 Order items",
    "8 Configurations",
    "8 Category depth",
    "8 Idempotency rules",
    "9 Versioning",
)

TABLE: Rules = {**BASICS, **ENDPOINTS, **LIMITS}
