"""`python -m tradecounter` is the command line."""

from tradecounter.cli.main import run

run()
