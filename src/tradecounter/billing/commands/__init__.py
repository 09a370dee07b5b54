"""The commands of `billing`."""
