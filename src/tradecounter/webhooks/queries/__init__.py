"""The SQL of webhooks."""
