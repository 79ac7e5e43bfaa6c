"""One pool of instances for all tests of this folder."""

from collections.abc import Iterator

import pytest

from lineshaft.sandbox.webassembly import Instances


@pytest.fixture(scope="session")
def instances() -> Iterator[Instances]:
    pool = Instances(ready=2)
    yield pool
    pool.close()
