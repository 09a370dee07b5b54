"""Placeholders for the base address, which depends on the request's `Host`."""

ANY_ADDRESS = "https://base-address.invalid"  # in generated text; each response replaces it (RFC 2606)
EXAMPLE_ADDRESS = "https://api.example"  # in examples written by hand
