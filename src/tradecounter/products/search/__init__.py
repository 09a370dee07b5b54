"""The search of products: one index for the customers' API, the shop, order forms and the back office."""
