"""The audit log: who changed what, and when (reseller's side, section 6)."""
