"""Who calls: API keys, applications and their access tokens, blocked addresses, counted requests."""
