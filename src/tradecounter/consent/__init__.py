"""The own issuer of consent: customers allow applications to act for them."""
