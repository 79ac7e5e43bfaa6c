made = (print("never") for _ in range(3))
return "done"
