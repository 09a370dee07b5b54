"""The pages of `saved_lists`."""
