"""Access control: API keys, tenants, scopes and rate limits."""
