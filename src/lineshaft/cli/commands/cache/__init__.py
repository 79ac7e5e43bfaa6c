"""`lineshaft cache`."""
