"""Scratch."""

import os
from pathlib import Path
from support.chromium import chromium, chromium_program
from support.orders import buy, create, sell
from support.quotes import request_quote, price_as_support
from support.shop import NEXT_DAY, product, price

OUT = Path("/tmp/porders")
OUT.mkdir(exist_ok=True)
ONLY = os.environ.get("ONLY", "").split(",")


def test_pictures(office, sam, shop):
    customer = shop.customer(company="Bright & Sons Networks Ltd")
    shop.must_load(
        "products",
        [
            product("VP-200", name="Desk phone with colour display, 12 keys, PoE", purchase_cost="71.20"),
            product("SW-48P", name="Managed switch 48 ports PoE+", purchase_cost="310.00", weight_kg=5),
            product("CAT6-1", name="Patch cable Cat 6, 1 m, grey", weight_kg="0.1", purchase_cost="0.80"),
        ],
    )
    shop.must_load(
        "price-list",
        [
            price("VP-200", "119.00", "109.00", "99.00"),
            price("SW-48P", "499.99"),
            price("CAT6-1", "2.49", "2.19", "1.99"),
        ],
    )
    shop.must_load(
        "stock",
        [{"sku": "VP-200", "available": 24}, {"sku": "SW-48P", "available": 1}, {"sku": "CAT6-1", "available": 900}],
    )
    shop.refresh()
    lines = [("VP-200", 12), ("SW-48P", 3), ("CAT6-1", 60)]
    first = buy(customer, lines, NEXT_DAY, customer_reference="PO-2231")
    done = buy(customer, [("VP-200", 2), ("CAT6-1", 5)], NEXT_DAY, customer_reference="PO-2230")
    from support.pages import fields_of

    path = f"/order/{done['order_reference']}"
    f = fields_of(sam.get(path + "/dispatch")) | {
        "items-0-serials": "AB-100200\nAB-100201",
        "tracking_number": "FV123456789GB",
    }
    sam.sends(path + "/dispatch", f)
    sam.sends(
        path + "/tracking", {"type": "Collected", "description": "The courier has the parcel", "locality": "Leeds"}
    )
    sam.sends(path + "/tracking", {"type": "Delivered", "description": "Left with reception", "locality": "Hull"})
    items = fields_of(sam.get(path + "/return"))
    rma = sam.send(
        path + "/return", items | {"items-0-quantity": "1", "items-0-known": "AB-100201", "reason": "Screen flickers"}
    )
    assert rma.status_code == 303, rma.text
    pend = create(customer, lines, customer_reference="PO-2240")
    q = request_quote(customer, lines, customer_reference="Q-77 new office")
    q2 = request_quote(customer, [("VP-200", 40)], customer_reference="Q-78")
    price_as_support(shop, q2, ("VP-200", "89.00"))
    pages = {
        "choose": "/order/new?customer=a",
        "entry": f"/order/new/{customer.id}",
        "order": f"/order/{first['order_reference']}",
        "done": path,
        "list": "/order",
        "confirm": f"/order/{pend['confirmation_code']}/confirm",
        "amend": f"/order/{first['order_reference']}/amend",
        "dispatch": f"/order/{first['order_reference']}/dispatch",
        "return": path + "/return",
        "invoice": path + "/invoice",
        "tracking": path + "/tracking",
        "quotes": "/quote",
        "price": f"/quote/{q['confirmation_code']}",
        "priced": f"/quote/{q2['confirmation_code']}",
        "qconfirm": f"/quote/{q2['confirmation_code']}/confirm",
        "returns": "/return",
        "rma": rma.headers["Location"],
        "receive": rma.headers["Location"] + "/receive",
    }
    with chromium(chromium_program()) as page:
        page.send("Network.enable")
        page.send("Network.setExtraHTTPHeaders", headers={"Cookie": sam.cookie})
        for name, p in pages.items():
            if ONLY != [""] and name not in ONLY:
                continue
            for width, dark in (
                ((1280, False), (375, False), (1280, True)) if not os.environ.get("WIDE") else ((1280, False),)
            ):
                page.open(office.url + p, width=width, dark=dark)
                page.run("document.body.offsetHeight")
                if name == "entry":
                    page.run("document.querySelector('[name=items-0-sku]').focus()")
                    page.type("vp-200")
                    page.press("Enter")
                    page.type("12")
                    page.press("Enter")
                    page.type("SW-48P")
                    page.press("Enter")
                    page.type("3")
                    page.press("Enter")
                    page.type("NONSENS")
                    page.until(
                        "document.querySelectorAll('.offer').length == 2 && document.querySelector('.lines .error')"
                    )
                if name == "price":
                    page.run("document.querySelector('[name=items-0-price]').focus()")
                    page.type("10%")
                    page.press("Tab")
                    page.type("300")
                    page.until("document.querySelector('#totals .error')")
                if name == "amend":
                    page.run("document.querySelector('[name=items-0-quantity]').select()")
                    page.type("30")
                    page.until("document.querySelector('#totals').textContent.includes('Nothing is changed')")
                if name == "dispatch":
                    page.run("document.querySelector('textarea').focus()")
                    page.type("SN1")
                    page.press("Enter")
                    page.type("SN1")
                    page.press("Enter")
                page.picture(OUT / f"{name}-{width}{'-dark' if dark else ''}.png", whole=True)
                wide = page.run("document.documentElement.scrollWidth")
                if wide > width:
                    print("WIDE", name, width, wide)
                if page.logged:
                    print("LOG", name, page.run("location.href"), page.logged)
                    page.logged.clear()
        print("LOGGED", page.logged)


def test_choose(office, sam, shop):
    r = sam.get("/order/new?customer=a")
    print(r.status_code, r.headers.get("location"))
    r = sam.get("/order/new?customer=bright")
    print(r.status_code, r.headers.get("location"))
