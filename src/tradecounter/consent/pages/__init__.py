"""The pages of `consent`."""
