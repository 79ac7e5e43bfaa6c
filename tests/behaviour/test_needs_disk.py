"""Tools that look at the disk itself: what the run has changed lands before their calls."""

from pathlib import Path
from typing import Any

import pytest

from lineshaft import ConfigError, Policy, Session, Tool, kit

pytestmark = pytest.mark.behaviour("F28")

OPEN = Policy(mode="open")
SCRIPT = "await write_file('f', 'new')\nreturn await look()"


def looking(folder: Path, **facts: Any) -> Tool[..., Any]:
    def look() -> str:
        """Return what is on the disk."""
        return ", ".join(sorted(path.name for path in folder.iterdir()))

    return Tool.from_function(look, **facts)


@pytest.mark.parametrize(
    ("facts", "seen"),
    [
        ({"effect": "read", "needs_disk": True}, "f"),
        ({"effect": "external", "needs_disk": True}, "f"),
        ({"effect": "exec"}, "f"),
        ({"effect": "exec", "needs_disk": False}, ""),
        ({"effect": "read"}, ""),
    ],
)
async def test_changes_land_before_a_tool_that_needs_the_disk(
    folder: Path, facts: dict[str, Any], seen: str
) -> None:
    async with Session([kit.tools(), looking(folder, **facts)], workspace=folder, policy=OPEN) as s:
        result = await s.run(SCRIPT)
        assert result.value == seen
        assert (folder / "f").read_text() == "new"
        await s.undo(result.run_id)
    assert not (folder / "f").exists()


async def test_a_preview_stops_before_a_tool_that_needs_the_disk(folder: Path) -> None:
    look = looking(folder, effect="read", needs_disk=True)
    async with Session([kit.tools(), look], workspace=folder, policy=OPEN) as session:
        seen = await session.preview(SCRIPT)
    assert seen.stopped_at is not None
    assert seen.stopped_at.tool == "look"
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("facts", [{"container": True}, {"effect": "write", "staged": True}])
def test_what_keeps_changes_back_does_not_need_the_disk(
    folder: Path, facts: dict[str, Any]
) -> None:
    with pytest.raises(ConfigError, match="needs_disk"):
        looking(folder, needs_disk=True, **facts)
