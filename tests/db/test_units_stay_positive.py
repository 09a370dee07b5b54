"""The database rejects negative units and prices, whatever the code does."""
