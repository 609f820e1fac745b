"""What requests have done: the same in the service's process and in those that compute."""
