"""Goals of Maven."""

from dataclasses import dataclass
from pathlib import Path

from lineshaft.errors import ConfigError
from lineshaft.processes.programs.command import ProgramOptions


@dataclass(frozen=True, slots=True)
class MavenOptions(ProgramOptions):
    """Goals of Maven for one project, without questions and without colour."""

    goals: tuple[str, ...]
    """Such as `compile`."""

    pom: Path
    """The project's file, or its folder."""

    args: tuple[str, ...] = ()
    """Further arguments."""

    offline: bool = False
    """Whether nothing is fetched."""

    repository: Path | None = None
    """Its local repository; None: that of the person."""

    executable: str = "mvn"

    def __post_init__(self) -> None:
        """Refuse a call without a goal, or with an option in place of one."""
        if not self.goals or any(not goal or goal.startswith("-") for goal in self.goals):
            raise ConfigError(f"{list(self.goals)!r} names no goal of Maven")
        ProgramOptions.__post_init__(self)

    @property
    def argv(self) -> tuple[str, ...]:
        """The call of Maven."""
        offline = ("-o",) if self.offline else ()
        kept = () if self.repository is None else (f"-Dmaven.repo.local={self.repository}",)
        told = ("-B", "-Dstyle.color=never", *offline, *kept)
        return (self.executable, *told, "-f", str(self.pom), *self.goals, *self.args)

    @property
    def install(self) -> str:
        """How Maven is installed."""
        return "install Maven (Debian: apt install maven)"
