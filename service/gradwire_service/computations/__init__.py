"""Values and derivatives of programs, each in one request."""
