"""The pages of both sites, which people see after they have signed in."""
