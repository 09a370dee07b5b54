"""The staff's pages of quotes."""
