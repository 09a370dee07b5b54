"""Saved views: lists with their filters and their order, which staff keep under names."""
