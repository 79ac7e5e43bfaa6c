try:
    return "é".encode("latin-1").hex()
except LookupError:
    return "unknown encoding"
