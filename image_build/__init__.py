"""What the build does to the image of Python for WebAssembly once it is made."""
