"""Acts for a customer, with the refresh token in a file: once, and again with a new client."""

import json
import os
import sys
from pathlib import Path

from tradecounter_client import Consent, Tradecounter
from tradecounter_client.errors import ConsentEnded

file = Path(sys.argv[1])


def client(token: str) -> Tradecounter:
    consent = Consent(os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"], token, file.write_text)
    return Tradecounter(os.environ["BASE"], credentials=consent)


first = file.read_text()
names = [client(file.read_text()).customer().last_name for _ in range(2)]
try:
    client(first).customer()
    ended = False
except ConsentEnded:
    ended = True
sys.stdout.write(json.dumps({"names": names, "ended": ended}))
