"""What waits in the database: jobs, events without a number, deliveries to webhooks."""
