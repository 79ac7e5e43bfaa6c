"""`lineshaft config mcp`."""
