"""The six questions about a TypeSpec project."""

from pathlib import Path

import pytest

from lineshaft.errors import ConfigError, FileMissing
from lineshaft_azure_sdk.typespec_project import (
    TypeSpecProject,
    is_management_plane_address,
    is_project,
    is_public_specification_repository,
    is_specification_repository,
    specification_root,
)

RULES = "@azure-tools/typespec-azure-rulesets"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project below a folder whose own path has `specification` in it."""
    folder = tmp_path / "specification-old" / "repo" / "specification" / "widget" / "Widget"
    folder.mkdir(parents=True)
    (folder / "tspconfig.yaml").write_text("emit: []\n")
    return folder


def test_a_folder_and_its_configuration_are_a_project(project: Path, tmp_path: Path) -> None:
    assert is_project(project)
    assert is_project(project / "tspconfig.yaml")
    assert not is_project(project.parent)
    assert TypeSpecProject.at(project) == TypeSpecProject.at(project / "tspconfig.yaml")
    for path in (tmp_path, project / "main.tsp", tmp_path / "tspconfig.yaml"):
        with pytest.raises(FileMissing, match="is no TypeSpec project"):
            TypeSpecProject.at(path)


@pytest.mark.parametrize(
    ("text", "is_management"),
    [
        (f'linter:\n  extends:\n    - "{RULES}/resource-manager"\n', True),
        (f'linter:\n  extends:\n    - "{RULES}/data-plane"\n', False),
        (f'# "{RULES}/resource-manager"\nemit: []\n', False),
        ("options:\n  x:\n    azure-resource-provider-folder: ./resource-manager\n", True),
        ("options:\n  x:\n    azure-resource-provider-folder: resource-manager/\n", True),
        ("parameters:\n  azure-resource-provider-folder:\n    default: resource-manager\n", True),
        ("options:\n  x:\n    azure-resource-provider-folder: data-plane\n", False),
        ("", False),
    ],
)
def test_the_plane_is_read_from_the_configuration(
    project: Path, text: str, is_management: bool
) -> None:
    (project / "tspconfig.yaml").write_text(text)
    assert TypeSpecProject.at(project).is_management_plane is is_management


def test_aliases_within_aliases_are_looked_into_once(project: Path) -> None:
    lines = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 60)]
    text = "a0: &a0 {x: &x [*x]}\n" + "\n".join(lines)
    (project / "tspconfig.yaml").write_text(text)
    assert not TypeSpecProject.at(project).is_management_plane


@pytest.mark.parametrize(
    "text", ["a: [", "a: " + "1" * 5_000, "a: " + "[" * 5_000, "a: 2026-02-31"]
)
def test_a_malformed_configuration_is_told(project: Path, text: str) -> None:
    (project / "tspconfig.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"tspconfig\.yaml is malformed"):
        _ = TypeSpecProject.at(project).is_management_plane


def test_its_place_is_below_the_nearest_specification(project: Path, tmp_path: Path) -> None:
    found = TypeSpecProject.at(project)
    assert found.repository == (tmp_path / "specification-old" / "repo").resolve()
    assert found.relative_path == "specification/widget/Widget"
    assert specification_root(project / "main.tsp") == found.repository
    assert specification_root(tmp_path) is None
    (tmp_path / "tspconfig.yaml").write_text("")
    with pytest.raises(ConfigError, match="lies below no folder 'specification'"):
        _ = TypeSpecProject.at(tmp_path).relative_path


@pytest.mark.parametrize(
    ("url", "is_spec", "is_public"),
    [
        ("https://github.com/Azure/azure-rest-api-specs.git", True, True),
        ("https://github.com/someone/azure-rest-api-specs", True, True),
        ("git@github.com:Azure/azure-rest-api-specs-pr.git", True, False),
        ("https://github.com/Azure/azure-rest-api-spec.git", False, False),
        ("https://github.com/Azure/azure-rest-api-specsXgit", False, False),
        ("https://github.com/Azure/not-azure-rest-api-specs-x", False, False),
        ("https://github.com/Azure/x-azure-rest-api-specs", False, False),
        ("", False, False),
    ],
)
def test_a_repository_is_known_by_its_origin(
    tmp_path: Path, url: str, is_spec: bool, is_public: bool
) -> None:
    (tmp_path / ".git").mkdir()
    remote = f'[remote "origin"]\n\turl = {url}\n' if url else ""
    (tmp_path / ".git" / "config").write_text(f"[core]\n\tbare = false\n{remote}")
    assert is_specification_repository(tmp_path) is is_spec
    assert is_public_specification_repository(tmp_path) is is_public


def test_a_working_tree_has_the_origin_of_its_repository(tmp_path: Path) -> None:
    main = tmp_path / "main" / ".git"
    (main / "worktrees" / "one").mkdir(parents=True)
    (main / "config").write_text('[remote "origin"]\nurl = a/azure-rest-api-specs\n')
    (main / "worktrees" / "one" / "commondir").write_text("../..\n")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {main}/worktrees/one\n")
    assert is_specification_repository(tree)
    assert not is_specification_repository(tmp_path)


def test_the_plane_is_known_by_an_address() -> None:
    base = "https://github.com/Azure/azure-rest-api-specs/blob/main/specification"
    assert is_management_plane_address(f"{base}/widget/Widget.Management/tspconfig.yaml")
    assert is_management_plane_address(f"{base}/widget/resource-manager/Widget")
    assert not is_management_plane_address(f"{base}/widget/Widget.ManagementClient")
    assert not is_management_plane_address(f"{base}/widget/no-resource-managers")
    with pytest.raises(ConfigError, match="no address of the web: Invalid IPv6"):
        is_management_plane_address("https://[::1/resource-manager")
    with pytest.raises(ConfigError, match="no address of the web"):
        is_management_plane_address("specification/widget")
