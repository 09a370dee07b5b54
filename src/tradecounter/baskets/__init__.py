"""The basket of each of a customer's users, and its pages."""
