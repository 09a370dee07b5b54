"""The SQL of `ordering`."""
