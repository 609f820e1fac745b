"""Images, and values between their pixels."""
