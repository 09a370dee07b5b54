"""Shared parts of all HTML pages: layout, style sheet, scripts, content policy."""
