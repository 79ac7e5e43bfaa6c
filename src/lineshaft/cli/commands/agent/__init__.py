"""`lineshaft agent`."""
