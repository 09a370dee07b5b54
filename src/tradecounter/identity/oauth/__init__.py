"""Applications that act for customers: they exchange an issuer's subject tokens for access tokens (RFC 8693)."""
