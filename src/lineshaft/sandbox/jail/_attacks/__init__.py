"""Attacks on a boundary: a program, run inside one, and without one to compare."""
