"""What pages of the shop at both sites are made of."""
