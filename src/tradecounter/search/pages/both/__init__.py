"""What the pages of `search` at both sites share."""
