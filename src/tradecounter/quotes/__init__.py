"""Quotes: requests, pricing by support, confirmation, reminders."""
