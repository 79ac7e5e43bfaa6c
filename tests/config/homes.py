"""A project and the person who works in it, with the servers that their files name."""

from dataclasses import dataclass
from pathlib import Path

from lineshaft.config import (
    FoundServers,
    ServerSetting,
    Settings,
    approval_of,
    approve,
    read_settings,
    server_approved,
    servers,
)


@dataclass
class Home:
    """A project, and the folders and variables of whoever works in it."""

    root: Path
    project: Path
    user_file: Path
    environ: dict[str, str]

    def read(self, project: str = "", user: str = "") -> Settings:
        (self.project / "lineshaft.toml").write_text(project, encoding="utf-8")
        self.user_file.write_text(user, encoding="utf-8")
        return read_settings(self.project, environ=self.environ)

    def servers(self, project: str = "", user: str = "") -> tuple[ServerSetting, ...]:
        return self.found(self.read(project, user)).servers

    def found(self, settings: Settings) -> FoundServers:
        return servers(settings, environ=self.environ)

    def approved(self, server: ServerSetting) -> bool:
        return server_approved(server, environ=self.environ)

    def approve(self, *given: ServerSetting) -> None:
        for each in given:
            if not each.problem and not self.approved(each):
                approve(approval_of(each), environ=self.environ)
