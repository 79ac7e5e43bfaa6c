"""Fixtures for every test."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Run async tests on asyncio: the engines need it."""
    return "asyncio"
