"""Payments: recorded, from bank files, unplaced, reversed."""
