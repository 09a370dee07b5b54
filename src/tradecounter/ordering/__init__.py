"""Orders: created, priced, confirmed, read back."""
