"""The names of agents' tools, and of the calls that an agent makes for itself."""

ASK_MODEL = "ask_model"
"""The call that is one request to an agent's model."""

COMMIT = "commit_changes"
"""The call that makes an agent's changes those of what stands around it."""

AGENT_NAMESPACE = "agents"
"""The namespace of agents in scripts."""
