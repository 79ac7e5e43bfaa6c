"""Which places `fetch_url` may reach is the person's to say."""

from pathlib import Path
from typing import cast

import pytest

from kit.web import Page, serving
from lineshaft import ConfigError
from lineshaft.config import build, read_settings


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the place of the person's own file."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    path = tmp_path / "config" / "lineshaft" / "lineshaft.toml"
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project's file that asks for the tool."""
    path = tmp_path / "project" / "lineshaft.toml"
    path.parent.mkdir()
    path.write_text('[tools]\nkit = ["default", "fetch_url"]\n')
    return path


async def test_a_place_that_a_person_allows_is_reached(own: Path, project: Path) -> None:
    with serving({"/": Page(b"here", {"content-type": "text/plain"})}) as site:
        own.write_text(f'[policy]\nmode = "open"\n[fetch]\nallow = ["127.0.0.1:{site.port}"]\n')
        async with build(read_settings(project.parent)) as session:
            found = await session.call("fetch_url", {"url": f"http://127.0.0.1:{site.port}"})
            other = await session.call("fetch_url", {"url": "http://127.0.0.1:1/"})
    assert found.error is None
    assert cast("dict[str, object]", found.value)["content"] == "here"
    assert other.error is not None
    assert other.error.code == "E_DENIED"
    assert '[fetch] allow = ["127.0.0.1:1"]' in (other.error.hint or "")


@pytest.mark.parametrize("kit", ['["default", "fetch_url"]', '["default"]', "true", "false"])
def test_a_project_allows_no_place(kit: str, own: Path, project: Path) -> None:
    del own
    project.write_text(f'[tools]\nkit = {kit}\n[fetch]\nallow = ["localhost:80"]\n')
    with pytest.raises(ConfigError) as caught:
        build(read_settings(project.parent))
    assert caught.value.message == f"{project}: fetch.allow is not for a project's file"


@pytest.mark.parametrize("place", ["localhost", "http://localhost:80", "*:80", "a:b", "LOCAL:80"])
def test_a_place_is_a_host_and_a_port(place: str, own: Path, project: Path) -> None:
    own.write_text(f'[fetch]\nallow = ["{place}"]\n')
    with pytest.raises(ConfigError, match=r"fetch\.allow is"):
        read_settings(project.parent)
