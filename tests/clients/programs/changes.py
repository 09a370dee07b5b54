"""Prints the SKUs of what has changed since a cursor, and the cursor that follows."""

import json
import os
import sys

from tradecounter_client import Tradecounter
from tradecounter_client.errors import CursorExpired

last = sys.argv[1]
skus: list[str] = []
try:
    for changes, cursor in Tradecounter(os.environ["BASE"], os.environ["KEY"]).changes(last):
        skus += [change.sku for change in changes if change.product is not None]
        last = cursor
except CursorExpired:
    last = "expired"
sys.stdout.write(json.dumps({"skus": skus, "cursor": last}))
