"""Imports: their kinds, uploads, runs, history and roll-back; also products saved by a form, and prices by a rule."""
