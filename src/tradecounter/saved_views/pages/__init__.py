"""The pages of `saved_views`."""
