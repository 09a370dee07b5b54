"""Three months of a reseller's business, as the demo's history."""
