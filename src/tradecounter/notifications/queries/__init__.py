"""The SQL of `notifications`."""
