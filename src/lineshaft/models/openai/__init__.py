"""Models behind any address that speaks OpenAI's chat completions.

Not covered: the Responses API, audio, and what a provider adds of its own.
"""

from lineshaft.models.openai.client import OpenAICompatible

__all__ = ["OpenAICompatible"]
