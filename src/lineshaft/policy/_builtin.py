"""The rules that every policy has. No rule of a project switches them off."""

from lineshaft.policy._rules import Rule

SOURCE = "built in"
"""Source of the built-in rules."""

SECRETS = "builtin:secrets"
"""The one built-in rule that a user's own rule may lift, file by file."""

TOOL_CONFIG = "builtin:tool-config"
"""The one built-in rule that mode `open` switches off."""

_EXAMPLES_AND_PUBLIC_KEYS = (
    *(f".env.{word}" for word in ("dist", "example", "sample", "template")),
    *(f"{word}.env" for word in ("example", "sample", "template")),
    *("id_dsa.pub", "id_ecdsa*.pub", "id_ed25519*.pub", "id_rsa*.pub"),
)

_SECRETS = (
    *(".env", ".env.*", "*.env", ".envrc"),
    *("*.jks", "*.kdbx", "*.key", "*.keystore", "*.p12", "*.pem", "*.pfx", "*.ppk"),
    *("id_dsa*", "id_ecdsa*", "id_ed25519*", "id_rsa*"),
    *(".git-credentials", ".htpasswd", ".my.cnf", ".netrc", "_netrc", ".pgpass"),
    *(".dockercfg", ".dockerconfigjson", ".npmrc", ".pypirc", ".terraformrc"),
    *(".aws/", ".azure/", ".gnupg/", ".ssh/"),
    *("**/.cargo/credentials*", "**/.config/gcloud/", "**/.config/gh/", "**/.gem/credentials"),
    *("**/.docker/config.json", "**/.kube/config"),
    *(".credentials*", "client_secret*.json", "service[-_]account*.json"),
    *(
        f"{word}.{ending}"
        for word in ("credentials", "secrets")
        for ending in ("csv", "ini", "json", "toml", "yaml", "yml")
    ),
)

_TOOL_CONFIG = (
    *("lineshaft.toml", ".lineshaft/", ".mcp.json", "mcp.json"),
    *(".claude/", ".codex/", ".continue/", ".cursor/", ".gemini/", ".idea/", ".roo/", ".vscode/"),
    *(".windsurf/", ".zed/", "*.code-workspace"),
)

_WORDS_LISTS = (".vscode/cspell.json", ".vscode/cSpell.json", ".vscode/.cspell.json")

EXAMPLES = Rule("builtin:examples", "allow", path=_EXAMPLES_AND_PUBLIC_KEYS)
"""Names that look like secrets files and are none."""

WORDS = Rule("builtin:words", "allow", path=_WORDS_LISTS)
"""Where the kit's tool that can only add words is left out of what `TOOL_CONFIG` asks about."""

BUILT_IN: tuple[Rule, ...] = (
    Rule("builtin:git", "deny", path=".git", reason="tools leave .git alone", source=SOURCE),
    Rule(
        SECRETS,
        "deny",
        path=_SECRETS,
        reason="files like this hold secrets; a rule of the user's own that names it may allow it",
        source=SOURCE,
    ),
    Rule(
        TOOL_CONFIG,
        "ask",
        effect=("write", "exec", "external"),
        path=_TOOL_CONFIG,
        reason="this file decides what tools may do",
        source=SOURCE,
    ),
)
"""Each rule that matches counts, with any other rules."""
