"""The pages of `sandbox`."""
