"""The command line of evals, in processes of its own."""

import pytest

from forked.programs import Command, Programs


@pytest.fixture
def lineshaft(programs: Programs) -> Command:
    """Return a function that carries out a command line."""
    return programs.lineshaft
