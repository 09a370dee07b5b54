"""The database refuses negative units and prices, whatever the code does."""
