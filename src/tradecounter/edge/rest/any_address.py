"""Placeholders for the base URL, which depends on the request's `Host`."""

ANY_ADDRESS = "https://base-address.invalid"  # in generated documents; replaced in each response (RFC 2606)
EXAMPLE_ADDRESS = "https://api.example"  # in hand-written examples
