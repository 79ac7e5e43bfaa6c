"""The editor of the workspace's tests does what real windows do."""

import pytest

from lineshaft.workspace import Editor
from workspace.desk import Desk
from workspace.editors import *  # noqa: F403  the tests that every editor passes


@pytest.fixture
def editor_over() -> Editor:
    return Desk()
