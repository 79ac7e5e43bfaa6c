"""`lineshaft eval`."""
