"""The start pages: Today in the back office, Home in the account."""
