"""Credit: an account's debt and its limit."""
