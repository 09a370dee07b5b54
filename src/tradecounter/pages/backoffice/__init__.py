"""The staff's pages: one folder per subject."""
