"""Models of all providers that pydantic-ai knows, which the extra `models` installs.

Not covered: streaming (a reply's text comes in one piece), and tools that a provider runs itself.
"""

from lineshaft.models.pydantic_ai.adapter import PydanticAIModel

__all__ = ["PydanticAIModel"]
