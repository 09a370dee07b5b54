"""The pages of `alerts`."""
