"""What `tradecounter doctor` checks: the settings, the services around, and what the database holds."""
