"""Tradecounter: the ordering API of a telecoms-hardware reseller."""
