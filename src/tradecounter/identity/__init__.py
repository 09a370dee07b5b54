"""Who calls: API keys and the check of credentials."""
