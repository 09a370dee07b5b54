"""Mail to customers and to support, sent by jobs that were queued with what it tells of."""
