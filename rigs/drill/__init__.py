"""`make drill`: a shop is backed up, spoilt, destroyed and restored."""
