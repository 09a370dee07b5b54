"""Orders above a user's limit, which wait until somebody else of the customer confirms them."""
