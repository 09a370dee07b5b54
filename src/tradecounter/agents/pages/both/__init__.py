"""What pages of agents share in the back office and in the account."""
