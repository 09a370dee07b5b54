"""The pages of `audit`."""
