try:
    total = 5
    assert total > 10
except AssertionError as error:
    return repr(str(error))
