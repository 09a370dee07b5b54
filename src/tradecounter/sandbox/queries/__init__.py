"""The SQL of `sandbox`."""
