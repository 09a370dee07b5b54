"""The catalogue as one customer sees it: with its own prices and live stock."""
