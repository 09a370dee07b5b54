"""Staff members and service tokens."""
