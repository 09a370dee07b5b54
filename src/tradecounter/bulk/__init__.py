"""Bulk imports: reads files in several formats row by row, checks the rows and merges them into tables."""
