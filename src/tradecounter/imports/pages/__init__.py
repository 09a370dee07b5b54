"""The pages of `imports`."""
