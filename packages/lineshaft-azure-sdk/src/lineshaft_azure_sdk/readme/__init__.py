"""READMEs of packages: the check of one, and the agent that writes one."""

from lineshaft_azure_sdk.readme.agent import ReadmeResult, readme, readme_agent
from lineshaft_azure_sdk.readme.check import check_readme
from lineshaft_azure_sdk.readme.links import check_links, links_tool

__all__ = [
    "ReadmeResult",
    "check_links",
    "check_readme",
    "links_tool",
    "readme",
    "readme_agent",
]
