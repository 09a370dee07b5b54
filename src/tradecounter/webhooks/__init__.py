"""Webhooks of the reseller and of customers: endpoints and deliveries of events."""
