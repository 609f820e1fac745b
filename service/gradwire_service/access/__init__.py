"""Access: API keys, the tenants they speak for, what they may do, and how often."""
