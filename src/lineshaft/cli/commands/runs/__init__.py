"""`lineshaft runs`."""
