"""The operations of `imports`."""
