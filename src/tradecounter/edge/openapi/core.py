"""The core of the customers' API, which every program may rely on; marks what is beyond it in an interface document."""

from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct, field

ADDITION = "x-addition"
ADDED_STATUSES = "x-added-statuses"
ADDED_HEADERS = "x-added-headers"

_PAGING = frozenset({"X-Total-Count", "X-Page", "X-Limit", "X-Total-Pages", "Link"})
_REPLAY = frozenset({"Idempotent-Replay"})
_SAVED_ADDRESS = (
    "contact_name company_name street_one street_two street_three city state zip country_code contact_number tax_number"
)
_COSTS = "cost_net cost_tax cost_gross"
_CREATION = (
    "customer_reference items billing_address shipping_address shipping_method shipping_region external_customer_id "
    "order_notifications courier_notifications auto_confirm"
)


class CoreOperation(Struct, frozen=True):
    """The parts of an operation that belong to the core: statuses, parameters, and headers of its success."""

    statuses: frozenset[str]
    parameters: frozenset[str] = frozenset()
    headers: frozenset[str] = frozenset()


class Core(Struct, frozen=True):
    """The core's operations by method and path, and the fields of its schemas by name."""

    operations: Mapping[str, CoreOperation]
    schemas: Mapping[str, frozenset[str]]
    general_statuses: frozenset[str] = field(default_factory=frozenset)  # of every operation that needs a credential


def _operation(statuses: str, parameters: str = "", headers: frozenset[str] = frozenset()) -> CoreOperation:
    return CoreOperation(frozenset(statuses.split()), frozenset(parameters.split()), headers)


CORE = Core(
    operations={
        "GET /": _operation("200 500", headers=frozenset({"Link"})),
        "GET /check-health": _operation("200 500"),
        "GET /openapi.json": _operation("200 500"),
        "GET /openapi.yaml": _operation("200 500"),
        "POST /oauth/token": _operation("200 400 401 403 500 503", headers=frozenset({"Cache-Control"})),
        "GET /product": _operation(
            "200 400",
            "manufacturer category query attribute reduced clearance inStock sort extra accept page limit",
            _PAGING,
        ),
        "GET /product/{sku}": _operation("200 404", "sku extra"),
        "GET /order": _operation("200 400", "accept page limit", _PAGING),
        "POST /order": _operation("201 400 402 409 412", "Idempotency-Key", _REPLAY),
        "GET /order/{reference}": _operation("200 404", "reference"),
        "PUT /order/{reference}": _operation("200 400 404 410 412", "reference"),
        "POST /order/{reference}/item/{orderItemId}/configuration": _operation("200 400 404", "reference orderItemId"),
        "GET /order/{reference}/video": _operation("200 404", "reference"),
        "GET /order/{reference}/invoice": _operation("200 404 412", "reference"),
        "POST /quote": _operation("201 400 402 409", "Idempotency-Key", _REPLAY),
        "GET /customer": _operation("200"),
        "GET /customer/credit": _operation("200"),
        "GET /customer/address": _operation("200"),
        "POST /customer/address": _operation("201 400"),
        "DELETE /customer/address/{id}": _operation("204 404", "id"),
        "GET /category": _operation("200"),
        "GET /manufacturer": _operation("200"),
        "GET /attribute": _operation("200"),
    },
    general_statuses=frozenset({"401", "403", "429", "500", "503"}),
    schemas={
        name: frozenset(fields.split())
        for name, fields in {
            "AccessToken": "access_token issued_token_type token_type expires_in",
            "AddConfigurationsRequest": "configurations",
            "AddressDetails": _SAVED_ADDRESS,
            "AttributeValue": "value",
            "Category": "key name children",
            "ConfigurationRequest": "adsl_username adsl_password",
            "ConfirmOrderRequest": "shipping_method",
            "CreateOrderItem": "sku quantity",
            "CreateOrderRequest": _CREATION,
            "CreateOrderShipping": "id provider description cost_net expected_dispatch_date expected_arrival_date",
            "CreatedOrder": f"{_CREATION} confirmation_code order_id order_reference shipping_options "
            f"shipping_weight {_COSTS}",
            "CreatedOrderItem": "id sku quantity cost_net",
            "CreditOrderStatus": "total_cost total_paid total_due created_on due_on is_overdue customer_reference "
            "order_reference",
            "CreditOverview": "credit_limit total_outstanding available_credit outstanding_orders",
            "Customer": "first_name last_name email_address accounts_email trade_account credit_terms",
            "CustomerAddress": f"id {_SAVED_ADDRESS}",
            "CustomerCreditTerms": "credit_limit term_days",
            "Documentation": "openapi_json openapi_yaml",
            "EmptyObject": "",
            "Error": "message",
            "Health": "status database data_age writes",
            "Manufacturer": "key name",
            "NotificationDetails": "email_address phone_number",
            "OAuthError": "error",
            "Order": f"id order_reference customer_reference {_COSTS} created_on status items shipping",
            "OrderAddressDetails": f"id {_SAVED_ADDRESS}",
            "OrderItem": "id product quantity cost_net cost_tax related_items configurations serial_numbers",
            "OrderItemConfiguration": "data",
            "OrderShipping": "method_id contact_email contact_phone tracking_number cost_net cost_tax "
            "last_tracking_status tracking_events",
            "OrderVideoResponse": "video_file streaming_playlist",
            "Product": "sku ean name manufacturer weight_kg box_width_mm box_height_mm box_length_mm "
            "clearance_product images availability single_unit_cost five_plus_unit_cost ten_plus_unit_cost "
            "consumer_unit_cost description description_html short_description store_url categories attributes "
            "related_products similar_products",
            "ProductAttribute": "key name type possible_values",
            "ProductAvailability": "available status incoming",
            "ProductImage": "is_primary url",
            "ProductIncomingStock": "incoming expected_on",
            "ProductSerialNumber": "mac_address serial_number provisioning_sku",
            "ProvisioningData": "product adsl_username adsl_password wifi_ssid wifi_password",
            "SavedAddress": f"id {_SAVED_ADDRESS}",
            "ServiceIndex": "name documentation",
            "ShippingChoice": "id",
            "TokenRequest": "grant_type subject_token subject_token_type requested_token_type resource client_id "
            "client_secret",
            "TrackingEvent": "date type description locality",
        }.items()
    },
)


def mark_additions(document: dict[str, Any], core: Core) -> None:
    """Mark the additions of a document, in place.

    An operation, parameter, schema or field gets `x-addition: true`. Statuses and headers are often references, which
    cannot be extended: an operation has `x-added-statuses`, and a response `x-added-headers`. What belongs to a marked
    operation or schema has no mark of its own.
    """
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            found = core.operations.get(f"{method.upper()} {path}")
            if found is None:
                operation[ADDITION] = True
            else:
                _mark_operation(operation, found, core.general_statuses)
    for response in document["components"]["responses"].values():
        _mark_headers(response, ())
    for name, schema in document["components"]["schemas"].items():
        if name not in core.schemas:
            schema[ADDITION] = True
            continue
        for member_name, member in schema.get("properties", {}).items():
            if member_name not in core.schemas[name]:
                member[ADDITION] = True


def _mark_operation(operation: dict[str, Any], core: CoreOperation, general_statuses: frozenset[str]) -> None:
    for parameter in operation.get("parameters", ()):
        if parameter["name"] not in core.parameters:
            parameter[ADDITION] = True
    statuses = core.statuses if operation.get("security") == [] else core.statuses | general_statuses
    if added := [status for status in operation["responses"] if status not in statuses]:
        operation[ADDED_STATUSES] = added
    for response in operation["responses"].values():
        if "$ref" not in response:
            _mark_headers(response, core.headers)


def _mark_headers(response: dict[str, Any], core: Collection[str]) -> None:
    if added := [name for name in response["headers"] if name not in core]:
        response[ADDED_HEADERS] = added
