"""A parameter that is given by position alone leaves its name to others."""


def made(kind, /, **fields):
    return {"of": kind, **fields}


try:
    result = made("ship", kind="small", name="Ada")
except TypeError:
    result = "refused"
return result
