"""The commands: one file each, in the folder of its group."""

__all__ = []
