"""Wrong values of what is done with orders, quotes, returns and requests."""

from support import door_subjects as of
from support.doors import CUSTOMER, ITEM, LONG_REASON, REASON, Body, Case, Door, same
from support.shop import ADDRESS, order

_LEFT = "PHONE has 2 units left: its quantity must be from 1 to 2"
_LONG = "must have 1 to 100 characters, not only white space"
TYPED_ORDER = {
    "items-0-sku": "PHONE",
    "items-0-quantity": "1",
    "customer_reference": "PO-1",
    "do": "order",
    "billing_address-id": "same",
    **{f"shipping_address-{name}": str(value) for name, value in ADDRESS.items()},
}


def _new_order(message: str, wrong: Body, field: str, typed: dict[str, str], name: str) -> Case:
    """A fault of a new order; a command reads it from a file, whose fields are those of the API."""
    body = order() | wrong
    return Case(
        message,
        of.new_order,
        "",
        Door(body | {"customer_id": CUSTOMER}, field),
        Door(TYPED_ORDER | typed, name),
        Door(["order", "create", "--file", "-"], field, body),
    )


CASES = [
    Case(
        _LEFT,
        of.order,
        "dispatch",
        Door({"items": [{"id": ITEM, "quantity": 3}]}, "items[0].quantity"),
        Door({"items-0-id": ITEM, "items-0-quantity": "3"}, "items-0-quantity"),
        Door(["order", "dispatch", "--item", "ITEM=3"], "--item ITEM=3"),
    ),
    Case(
        _LONG,
        of.order,
        "dispatch",
        Door({"tracking_number": "x" * 101}, "tracking_number"),
        Door(
            {"items-0-id": ITEM, "items-0-quantity": "1", "tracking_number": "x" * 101},
            "tracking_number",
        ),
        Door(["order", "dispatch", "--tracking", "x" * 101], "--tracking"),
    ),
    Case(
        "'no-mac' is not a MAC address of 12 hexadecimal digits",
        of.order,
        "dispatch",
        Door(
            {
                "items": [
                    {"id": ITEM, "quantity": 1, "serial_numbers": [{"serial_number": "A", "mac_address": "no-mac"}]}
                ]
            },
            "items[0].serial_numbers[0].mac_address",
        ),
        Door({"items-0-id": ITEM, "items-0-quantity": "1", "items-0-serials": "A no-mac"}, "items-0-serials"),
    ),
    Case(
        _LEFT,
        of.order,
        "cancel",
        Door({"reason": "r", "items": [{"id": ITEM, "quantity": 3}]}, "items[0].quantity"),
        Door({"reason": "r", "items-0-id": ITEM, "items-0-quantity": "3"}, "items-0-quantity"),
        Door(["order", "cancel", "--reason", "r", "--item", "ITEM=3"], "--item ITEM=3"),
    ),
    Case(
        "PHONE has 2 units to return: its quantity must be from 1 to 2",
        of.dispatched_order,
        "return",
        Door({"reason": "r", "items": [{"id": ITEM, "quantity": 3}]}, "items[0].quantity"),
        Door({"reason": "r", "items-0-id": ITEM, "items-0-quantity": "3"}, "items-0-quantity"),
        Door(["order", "return", "--reason", "r", "--item", "ITEM=3"], "--item ITEM=3"),
    ),
    Case(
        "the serial number 'SN-9' was not dispatched with this item",
        of.dispatched_order,
        "return",
        Door(
            {"reason": "r", "items": [{"id": ITEM, "quantity": 1, "serial_numbers": ["SN-9"]}]},
            "items[0].serial_numbers",
        ),
        Door({"reason": "r", "items-0-id": ITEM, "items-0-quantity": "1", "items-0-known": "SN-9"}, "items-0-known"),
        Door(["order", "return", "--reason", "r", "--item", "ITEM=1", "--serial", "ITEM:SN-9"], "--item ITEM=1"),
    ),
    Case(
        "the unit cost must be between 0 and 1000000",
        of.quote,
        "price",
        Door({"items": [{"sku": "PHONE", "cost_net": 1_000_001}]}, "items[0].cost_net"),
        Door({"items-0-sku": "PHONE", "items-0-price": "1000001"}, "items-0-price"),
        Door(["quote", "price", "--item", "PHONE=1000001"], "--item PHONE=1000001"),
    ),
    Case(
        "this shipping method does not exist",
        of.quote,
        "price",
        Door({"shipping": [{"id": 999, "cost_net": 1}]}, "shipping[0].id"),
        Door({"method": "999", "method_cost": "1"}, "method_cost"),
        Door(["quote", "price", "--shipping", "999=1"], "--shipping 999=1"),
    ),
    same("500", of.order, "tracking", {"description": "x" * 501}, ["order", "track", "--type", "T"], {"type": "T"}),
    same("characters", of.order, "note", {"text": "x" * 5_001}, ["order", "note"], argument=True),
    same("characters", of.shipment, "", {"carrier": "x" * 201}, ["order", "shipment"], method="PATCH"),
    same(REASON, of.shipment, "take-back", {"reason": LONG_REASON}, ["order", "take-back"]),
    same(REASON, of.quote, "decline", {"reason": LONG_REASON}, ["quote", "decline"]),
    Case(
        REASON,
        of.order,
        "cancel",
        Door({"reason": LONG_REASON}, "reason"),
        Door({"reason": LONG_REASON, "items-0-id": ITEM, "items-0-quantity": "1"}, "reason"),
        Door(["order", "cancel", "--reason", LONG_REASON], "--reason"),
    ),
    same("characters", of.request, "close", {"text": "x" * 5_001}, ["request", "close"]),
    Case(
        "PHONE has 2 expected units",
        of.opened_return,
        "receive",
        Door({"items": [{"id": ITEM, "restock": 3}]}, "items[0].restock"),
        Door({"items-0-id": ITEM, "items-0-restock": "3"}, "items-0-restock"),
        Door(["return", "receive", "--restock", "ITEM=3"], "item ITEM"),
    ),
    Case(
        "the unit cost must be between 0 and 1000000",
        of.order,
        "amend",
        Door({"reason": "r", "items": [{"id": ITEM, "unit_cost": 1_000_001}]}, "items[0].unit_cost"),
        Door(
            {
                "reason": "r",
                "items-0-id": ITEM,
                "items-0-had": "2",
                "items-0-cost": "10",
                "items-0-unit_cost": "1000001",
            },
            "items-0-unit_cost",
        ),
        Door(["order", "amend", "--reason", "r", "--price", "ITEM=1000001"], "item ITEM"),
        "PATCH",
    ),
    Case(
        "must",
        of.order,
        "dispatch",
        Door({"dispatched_at": "2099-01-01T10:00:00Z"}, "dispatched_at"),
        Door(
            {"items-0-id": ITEM, "items-0-quantity": "1", "dispatched_at": "2099-01-01T10:00"},
            "dispatched_at",
        ),
        Door(["order", "dispatch", "--at", "2099-01-01T10:00"], "--at"),
    ),
    Case(
        "100",
        of.order,
        "dispatch",
        Door({"carrier": "x" * 201}, "carrier"),
        Door({"items-0-id": ITEM, "items-0-quantity": "1", "carrier": "x" * 201}, "carrier"),
        Door(["order", "dispatch", "--carrier", "x" * 201], "--carrier"),
    ),
    Case(
        REASON,
        of.dispatched_order,
        "return",
        Door({"reason": LONG_REASON, "items": [{"id": ITEM, "quantity": 1}]}, "reason"),
        Door({"reason": LONG_REASON, "items-0-id": ITEM, "items-0-quantity": "1"}, "reason"),
        Door(["order", "return", "--reason", LONG_REASON, "--item", "ITEM=1"], "--reason"),
    ),
    Case(
        "characters",
        of.amended_order,
        "amend",
        Door({"reason": "r", "customer_reference": "x" * 201}, "customer_reference"),
        Door(
            {
                "reason": "r",
                "customer_reference": "x" * 201,
                "items-0-id": ITEM,
                "items-0-had": "2",
                "items-0-cost": "10",
            },
            "customer_reference",
        ),
        Door(["order", "amend", "--reason", "r", "--reference", "x" * 201], "--reference"),
        "PATCH",
    ),
    Case(
        "100",
        of.quote,
        "price",
        Door({"discount": 101}, "discount"),
        Door({"discount": "101"}, "discount"),
        Door(["quote", "price", "--discount", "101"], "--discount"),
    ),
    Case(
        "characters",
        of.quote,
        "price",
        Door({"discount": 1, "note": "x" * 5_001}, "note"),
        Door({"discount": "1", "note": "x" * 5_001}, "note"),
        Door(["quote", "price", "--discount", "1", "--note", "x" * 5_001], "--note"),
    ),
    Case(
        "must",
        of.order,
        "video",
        Door({"video_file": "ftp://v", "streaming_playlist": "https://v.example/p"}, "video_file"),
        Door({"video_file": "ftp://v", "streaming_playlist": "https://v.example/p"}, "video_file"),
        Door(["order", "video", "--file", "ftp://v", "--playlist", "https://v.example/p"], "--file"),
    ),
    _new_order(
        "100000",
        {"items": [{"sku": "PHONE", "quantity": 100_001}]},
        "items[0].quantity",
        {"items-0-quantity": "100001"},
        "items-0-quantity",
    ),
    _new_order(
        "does not exist",
        {"items": [{"sku": "NO SUCH", "quantity": 1}]},
        "items[0].sku",
        {"items-0-sku": "NO SUCH"},
        "items-0-sku",
    ),
    _new_order(
        "100 characters",
        {"customer_reference": "x" * 201},
        "customer_reference",
        {"customer_reference": "x" * 201},
        "customer_reference",
    ),
    _new_order(
        "GB",
        {"shipping_address": {**ADDRESS, "country_code": "UK"}},
        "shipping_address.country_code",
        {"shipping_address-country_code": "UK"},
        "shipping_address-country_code",
    ),
    Case(
        REASON,
        of.new_order,
        "",
        Door(order() | {"customer_id": CUSTOMER, "override_credit": {"reason": LONG_REASON}}, "override_credit.reason"),
        Door(TYPED_ORDER | {"override_credit-reason": LONG_REASON}, "override_credit-reason"),
        Door(["order", "create", "--file", "-", "--override-credit", LONG_REASON], "--override-credit", order()),
    ),
    *(
        case
        for about, noun in ((of.pending_order, "order"), (of.priced_quote, "quote"))
        for case in (
            Case(
                "99 is not among the shipping options",
                about,
                "confirm",
                Door({"shipping_method": {"id": 99}}, "shipping_method.id"),
                Door({"shipping_method": "99"}, "shipping_method"),
                Door([noun, "confirm", "--shipping-method", "99"], "--shipping-method"),
            ),
            Case(
                REASON,
                about,
                "confirm",
                Door({"override_credit": {"reason": LONG_REASON}}, "override_credit.reason"),
                Door({"override_credit-reason": LONG_REASON}, "override_credit-reason"),
                Door([noun, "confirm", "--override-credit", LONG_REASON], "--override-credit"),
            ),
        )
    ),
    Case(
        REASON,
        of.amended_order,
        "amend",
        Door(
            {"reason": "r", "items": [{"id": ITEM, "quantity": 3}], "override_credit": {"reason": LONG_REASON}},
            "override_credit.reason",
        ),
        Door(
            {
                "reason": "r",
                "items-0-id": ITEM,
                "items-0-had": "2",
                "items-0-cost": "10",
                "items-0-quantity": "3",
                "override_credit-reason": LONG_REASON,
            },
            "override_credit-reason",
        ),
        Door(["order", "amend", "--item", "ITEM=3", "--override-credit", LONG_REASON], "--override-credit"),
        "PATCH",
    ),
    Case(
        REASON,
        of.amended_order,
        "amend",
        Door({"reason": LONG_REASON, "items": [{"id": ITEM, "quantity": 3}]}, "reason"),
        Door(
            {
                "reason": LONG_REASON,
                "items-0-id": ITEM,
                "items-0-had": "2",
                "items-0-cost": "10",
                "items-0-quantity": "3",
            },
            "reason",
        ),
        Door(["order", "amend", "--item", "ITEM=3", "--reason", LONG_REASON], "--reason"),
        "PATCH",
    ),
    Case(
        "must be at most 100000",
        of.amended_order,
        "amend",
        Door({"reason": "r", "items": [{"id": ITEM, "quantity": 100_001}]}, "items[0].quantity"),
        Door(
            {"reason": "r", "items-0-id": ITEM, "items-0-had": "2", "items-0-cost": "10", "items-0-quantity": "100001"},
            "items-0-quantity",
        ),
        Door(["order", "amend", "--item", "ITEM=100001"], "item ITEM"),
        "PATCH",
    ),
    same(
        "200 characters",
        of.named_order,
        "",
        {"external_id": "x" * 201},
        ["order", "external-id"],
        argument=True,
        method="PATCH",
    ),
    Case(
        REASON,
        of.approval,
        "decline",
        Door({"reason": LONG_REASON}, "reason"),
        Door({"reason": LONG_REASON}, "reason"),
        Door(["approval", "decline", "--reason", LONG_REASON], "--reason"),
    ),
    *(
        Case(
            "must be at most 100000",
            about,
            step,
            Door(reason | {"items": [{"id": ITEM, "quantity": 100_001}]}, "items[0].quantity"),
            Door(reason | {"items-0-id": ITEM, "items-0-quantity": "100001"}, "items-0-quantity"),
            Door(["order", step, *typed, "--item", "ITEM=100001"], "--item ITEM=100001"),
        )
        for about, step, reason, typed in (
            (of.order, "cancel", {"reason": "r"}, ("--reason", "r")),
            (of.dispatched_order, "return", {"reason": "r"}, ("--reason", "r")),
            (of.order, "dispatch", {}, ()),
        )
    ),
    *(
        Case(
            "must be at least 1",
            about,
            step,
            Door({"reason": "r", "items": [{"id": ITEM, "quantity": 0}]}, "items[0].quantity"),
            Door({"reason": "r", "items-0-id": ITEM, "items-0-quantity": "0"}, "items-0-quantity"),
            Door(["order", step, "--reason", "r", "--item", "ITEM=0"], "--item ITEM=0"),
        )
        for about, step in ((of.order, "cancel"), (of.dispatched_order, "return"))
    ),
    Case(
        "must be at least 1",
        of.order,
        "dispatch",
        Door({"items": [{"id": ITEM, "quantity": 0}]}, "items[0].quantity"),
        None,
        Door(["order", "dispatch", "--item", "ITEM=0"], "--item ITEM=0"),
    ),
    Case(
        "must be at most",
        of.opened_return,
        "receive",
        Door({"items": [{"id": ITEM, "scrap": 10_000_000}]}, "items[0].scrap"),
        Door({"items-0-id": ITEM, "items-0-scrap": "10000000"}, "items-0-scrap"),
        Door(["return", "receive", "--scrap", "ITEM=10000000"], "item ITEM"),
    ),
    Case(
        "200 characters",
        of.order,
        "dispatch",
        Door(
            {"items": [{"id": ITEM, "quantity": 1, "serial_numbers": [{"serial_number": "S" * 201}]}]},
            "items[0].serial_numbers[0].serial_number",
        ),
        Door({"items-0-id": ITEM, "items-0-quantity": "1", "items-0-serials": "S" * 201}, "items-0-serials"),
        Door(["order", "dispatch", "--item", "ITEM=1", "--serial", f"ITEM:{'S' * 201}"], f"--serial ITEM:{'S' * 201}"),
    ),
]
