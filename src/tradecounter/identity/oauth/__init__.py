"""Applications act for customers: subject tokens of an issuer are exchanged for access tokens (RFC 8693)."""
