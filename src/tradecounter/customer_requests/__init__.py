"""What customers ask about their orders: to cancel, to return, or anything else; and what staff answer."""
