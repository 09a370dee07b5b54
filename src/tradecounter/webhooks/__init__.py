"""Webhooks of the reseller and of customers: endpoints and deliveries of events (reseller's side, section 5)."""
