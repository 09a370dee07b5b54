"""The pages of `payments` in the back office."""
