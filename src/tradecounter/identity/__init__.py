"""Authentication and limits: API keys, applications and their access tokens, blocked addresses, rate limits."""
