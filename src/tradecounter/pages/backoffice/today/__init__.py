"""Today: what needs somebody."""
