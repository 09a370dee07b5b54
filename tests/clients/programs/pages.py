"""Prints the SKUs of all products, read page by page, at once and, with a text, by their SKUs."""

import json
import os
import sys

from tradecounter_client import Tradecounter

shop = Tradecounter(os.environ["BASE"], os.environ["KEY"])
listed = [product.sku for product in shop.products(limit=50)]
at_once = [product.sku for product in shop.products(limit=0, page=7)]
described = shop.products_by_sku([*listed, "NO-SUCH"], extra=["short_description"])
by_sku = [product.sku for product in described if product.short_description is not None]
sys.stdout.write(json.dumps({"listed": listed, "at_once": at_once, "by_sku": by_sku}))
