"""Credit: what an account owes, and whether it may owe more."""
