"""The SQL of `prices`."""
