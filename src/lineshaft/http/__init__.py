"""Our own HTTP servers: who may come in, and where they listen.

Above: MCP and remote hosts, each an ASGI application behind the door. Below: uvicorn.
"""

from lineshaft.http._door import Door, headers_of, token_of
from lineshaft.http._hosts import LOCAL, Hosts
from lineshaft.http._listening import listen, listening

__all__ = ["LOCAL", "Door", "Hosts", "headers_of", "listen", "listening", "token_of"]
