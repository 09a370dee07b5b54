"""Webhooks: endpoints and their deliveries."""
