"""The commands of `imports`."""
