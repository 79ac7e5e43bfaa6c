import traceback
def inner():
    return {}["missing"]
try:
    inner()
except KeyError:
    text = traceback.format_exc()
lines = text.strip().splitlines()
return [lines[0], lines[-1], any("in inner" in line for line in lines)]
