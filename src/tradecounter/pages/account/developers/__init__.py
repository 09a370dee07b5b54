"""What the customer's developers need: keys, applications, webhooks, feeds, and how to call the API."""
