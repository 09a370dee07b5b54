"""Reads and writes what users want to be told by e-mail."""
