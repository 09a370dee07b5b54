"""`python -m tradecounter` is the command line."""

from tradecounter.sites.command_line import run

run()
