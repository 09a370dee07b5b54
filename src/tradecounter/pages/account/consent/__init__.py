"""The page at which a customer's user allows an application to act for the customer."""
