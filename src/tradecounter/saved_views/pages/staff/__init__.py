"""The pages of `saved_views` in the back office."""
