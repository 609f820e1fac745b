"""The methods of clients: what they compute, map and draw."""
