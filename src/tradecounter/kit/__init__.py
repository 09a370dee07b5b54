"""Small helpers that need no framework or database: clock, money, text, UK time, errors."""
