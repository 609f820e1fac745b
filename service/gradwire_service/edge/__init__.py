"""What meets the network: connections, what may come over them, and how long it may take."""
