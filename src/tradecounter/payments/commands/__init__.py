"""The commands of `payments`."""
