answer = 42
def look(name):
    return globals().get(name, "none")

globals()["made"] = "here"
return [look("answer"), look("nope"), made, "look" in globals()]
