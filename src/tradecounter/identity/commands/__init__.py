"""The commands of `identity`."""
