"""Prints the SKUs of all products, read page by page and by their SKUs."""

import json
import os
import sys

from tradecounter_client import Tradecounter

shop = Tradecounter(os.environ["BASE"], os.environ["KEY"])
listed = [product.sku for product in shop.products(limit=50)]
by_sku = [product.sku for product in shop.products_by_sku([*listed, "NO-SUCH"])]
sys.stdout.write(json.dumps({"listed": listed, "by_sku": by_sku}))
