"""The pages of `access`."""
