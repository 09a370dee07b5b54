"""The change feed: what differs in a customer's catalogue since a cursor (docs/change-feed.md, docs/adr/0038)."""
