"""A model of a distributor's day: what it costs, what it needs, and whether the product does as the model says."""
