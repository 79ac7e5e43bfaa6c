"""`lineshaft config`."""
