"""The command line, one file per noun; `main.py` assembles it."""
