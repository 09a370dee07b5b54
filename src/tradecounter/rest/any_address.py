"""The base address in text that is made once for all clients, each of which names its own in `Host`."""

# A domain that cannot exist (RFC 2606): whoever makes a response puts the real base address in its place.
ANY_ADDRESS = "https://base-address.invalid"

# The base address in examples that are written by hand.
EXAMPLE_ADDRESS = "https://api.example"
