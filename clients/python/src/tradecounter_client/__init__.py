"""A client of Tradecounter, the ordering API of a telecoms-hardware reseller."""

from tradecounter_client.catalogue_sync import Batch
from tradecounter_client.client import Tradecounter
from tradecounter_client.credentials import Consent, Key
from tradecounter_client.errors import ApiError, NoResponse, NotGenuine, TradecounterError
from tradecounter_client.webhooks import verified_event

__all__ = [
    "ApiError",
    "Batch",
    "Consent",
    "Key",
    "NoResponse",
    "NotGenuine",
    "Tradecounter",
    "TradecounterError",
    "verified_event",
]
