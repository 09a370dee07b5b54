"""The customer's pages: one folder per subject."""
