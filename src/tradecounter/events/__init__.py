"""The event log, which customers and the reseller read (reseller's side, section 5)."""
