"""The pages of `feeds`."""
