"""The checks of `tradecounter doctor`: settings, other services and the database."""
