"""The pages of `agents`."""
