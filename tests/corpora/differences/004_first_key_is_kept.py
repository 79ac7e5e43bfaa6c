seen = {1: "int", 1.0: "float", True: "bool"}
return str(seen)
