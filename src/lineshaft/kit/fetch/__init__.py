"""Web pages for scripts: `fetch_url`; and whether links lead somewhere, for packs.

Above: the kit. Below: `tools` for the spelling of addresses, `sandbox.webassembly` for the instance
that turns HTML into text. A page and its server may be hostile.
Not covered: what a public server answers, and a host that serves its own network at a public
address.
"""

from lineshaft.kit.fetch.links import LinkState, link_states
from lineshaft.kit.fetch.tool import fetch_tool

__all__ = ["LinkState", "fetch_tool", "link_states"]
