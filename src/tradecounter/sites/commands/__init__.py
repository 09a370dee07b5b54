"""The commands that run the programs."""
