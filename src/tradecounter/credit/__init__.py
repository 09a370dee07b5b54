"""Credit: the debt of an account, and its limit."""
