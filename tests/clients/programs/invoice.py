"""Saves the latest invoice in a file."""

import os
import sys
from pathlib import Path

from tradecounter_client import Tradecounter

shop = Tradecounter(os.environ["BASE"], os.environ["KEY"])
Path(sys.argv[1]).write_bytes(shop.invoice_file(next(shop.invoices()).number))
