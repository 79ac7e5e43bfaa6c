def harbour(a, b=2):
    """Says something."""
    return a

return [harbour.__name__, harbour.__doc__, harbour.__defaults__, (lambda: 0).__name__]
