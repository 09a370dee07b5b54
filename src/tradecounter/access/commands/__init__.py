"""The commands of `access`."""
