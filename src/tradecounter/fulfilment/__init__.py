"""After the order: shipments, serial numbers, tracking, configurations, packing videos."""
