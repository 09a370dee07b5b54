"""The staff's pages of returns."""
