"""The host's side that all engines share: turns, calls, output, clocks, words of the wire."""
