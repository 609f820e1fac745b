"""Programs recorded once, then differentiated by any number of queries."""
