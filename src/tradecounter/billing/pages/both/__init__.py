"""What the pages of `billing` at both sites share."""
