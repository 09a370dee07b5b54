"""Bulk imports: reading files of several forms row by row, checking the rows, merging them into tables."""
