"""The command line: a file per noun, and `main.py`, which lists the commands."""
