"""The commands of `customers`."""
