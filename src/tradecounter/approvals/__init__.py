"""Requests for approval of orders above a user's limit, and the decisions."""
