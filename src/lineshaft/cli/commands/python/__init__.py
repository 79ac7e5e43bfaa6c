"""`lineshaft python`."""
