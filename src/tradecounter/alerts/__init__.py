"""Stock alerts: e-mails to users when a product is in stock again."""
