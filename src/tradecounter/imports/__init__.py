"""Importing files: which kinds there are, and running one in a transaction of its own."""
