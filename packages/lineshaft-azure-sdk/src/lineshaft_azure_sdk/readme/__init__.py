"""READMEs of packages: the check of one, and the agent that writes one."""

from lineshaft_azure_sdk.readme.agent import ReadmeResult, readme
from lineshaft_azure_sdk.readme.check import check_readme

__all__ = ["ReadmeResult", "check_readme", "readme"]
