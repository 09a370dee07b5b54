"""The pages of a webhook at both sites."""
