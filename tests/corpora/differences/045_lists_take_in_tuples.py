found = [1]
found += (2, 3)
found += "ab"
return found
