"""What a fleet costs and where it ends: measured service times, simulated queues, arithmetic."""
