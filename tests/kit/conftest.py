"""A call's context over a real folder, without the gate."""

import os
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from lineshaft.values import Call, Context, Done, Failure
from lineshaft.workspace import Folder


async def _refuse(call: Call) -> Done:
    return Failure("E_DENIED", f"{call.tool} is not called from here")


@pytest.fixture
async def make_call(tmp_path: Path) -> AsyncIterator[Callable[[float], Context]]:
    """Make a context whose call has so many seconds left."""
    view = Folder(tmp_path).begin()

    def make(seconds: float) -> Context:
        return Context(
            workspace=view,
            call_id="call",
            run_id="run",
            key="key",
            deadline=time.monotonic() + seconds,
            dispatch=_refuse,
            notify=lambda _kind, _data: None,
        )

    yield make
    await view.discard()


@pytest.fixture
def direct(call: Context) -> Context:
    """A model's direct call, with a minute left."""
    return replace(call, whole=False)


@pytest.fixture
def call(make_call: Callable[[float], Context]) -> Context:
    """A context with a minute left."""
    return make_call(60)


@pytest.fixture
def nothing_is_left(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    started: Callable[[], list[psutil.Process]],
) -> Iterator[None]:
    """Fail where a test leaves a process, or a file beside the private folder."""
    own = tmp_path_factory.mktemp("temporary")  # other tests make views at the same time
    private = own / f"lineshaft-{os.geteuid()}"
    monkeypatch.setattr(tempfile, "tempdir", str(own))
    monkeypatch.setenv("TMPDIR", str(own))
    yield
    assert [path.name for path in own.glob("*") if path.name != private.name] == []
    assert list(private.glob("*")) == []
    assert started() == []
