"""The pages of `sandbox` in the account."""
