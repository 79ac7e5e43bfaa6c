"""Java: the compiler's word by Maven, and the agent that patches customisations."""

from lineshaft_azure_sdk.java.agent import JavaPatchResult, java_patch
from lineshaft_azure_sdk.java.build import MavenBuild, compile_java

__all__ = ["JavaPatchResult", "MavenBuild", "compile_java", "java_patch"]
