"""The event log, which customers and the reseller read."""
