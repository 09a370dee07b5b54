"""The SQL of agents."""
