"""`lineshaft doctor`: what works on this machine, found out by trying it."""

from lineshaft.cli.commands.doctor.diagnose import command

__all__ = ["command"]
