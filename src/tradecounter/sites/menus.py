"""The menus of the two sites with pages; and the pages of what the audit log and events name."""

from tradecounter.edge.pages.menu import Menu

OFFICE_MENU = Menu(
    subjects=(
        ("Today", "/", "t"),
        ("Orders", "/order", "o"),
        ("Quotes", "/quote", "q"),
        ("Requests", "/request", "r"),
        ("Customers", "/customer", "c"),
        ("Products", "/product", "p"),
        ("Goods in", "/goods-in", "g"),
        ("Imports", "/import", "i"),
        ("Money", "/money", "m"),
        ("Returns", "/return", "b"),
        ("Webhooks", "/webhook", "w"),
        ("Jobs and mail", "/job", "j"),
        ("Audit", "/audit", "a"),
        ("Staff and tokens", "/staff", "s"),
    ),
    also={
        "/money": ("/invoice", "/credit-note", "/payment", "/bank-line", "/bank-file", "/vat"),
        "/staff": ("/token", "/settings"),
        "/product": (
            "/category",
            "/manufacturer",
            "/product-form",
            "/product-change",
            "/price-change",
            "/contract-price",
            "/stock-adjustment",
        ),
        "/goods-in": ("/count-sheet",),
    },
    search="/search",
    records={
        "order": "/order/{reference}",
        "invoice": "/invoice/{number}",
        "credit-note": "/credit-note/{number}",
        "payment": "/payment/{id}",
        "bank-line": "/bank-line/{id}",
        "bank-file": "/bank-file/{id}",
        "customer": "/customer/{id}",
        "product": "/product/{sku}",
        "quote": "/quote/{code}",
        "return": "/return/{number}",
        "import": "/import/{id}",
        "webhook": "/webhook/{id}",
    },
)
ACCOUNT_MENU = Menu(
    subjects=(
        ("Home", "/account", "h"),
        ("Products", "/account/product", "p"),
        ("Lists", "/account/list", "l"),
        ("Orders", "/account/order", "o"),
        ("New order", "/account/new-order", "n"),
        ("Quotes", "/account/quote", "q"),
        ("Approvals", "/account/approval", "a"),
        ("Invoices", "/account/invoice", "i"),
        ("Credit", "/account/credit", "c"),
        ("Addresses", "/account/address", "d"),
        ("Users", "/account/user", "u"),
        ("Developers", "/account/developer", "k"),
    ),
    also={"/account/product": ("/account/alert",)},
    search="/account/search",
)
