"""The pages of `imports` in the back office."""
