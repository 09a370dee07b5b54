"""Small tools without a framework or a database: clock, money, text, UK time, errors."""
