"""Fulfilment: shipments, serial numbers, tracking, configurations, packing videos."""
