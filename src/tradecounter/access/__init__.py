"""Who may sign in and call the back office: staff members, service tokens, customers' users."""
