"""The walls around programs, each with a door of its own: jails, a bundled Python, WebAssembly."""
