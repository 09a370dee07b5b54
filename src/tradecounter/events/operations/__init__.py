"""The operations of `events`."""
