total = eval("sum(range(5)) + offset", {"offset": 10, "sum": sum, "range": range})
scope = {}
exec("def twice(x):\n    return 2 * x\ny = twice(21)", scope)
return [total, scope["y"]]
