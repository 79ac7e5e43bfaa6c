import copy
a = {"x": [1, 2, {"y": 3}]}
shallow, deep = copy.copy(a), copy.deepcopy(a)
a["x"][2]["y"] = 99
a["z"] = 1
return [shallow["x"][2]["y"], deep["x"][2]["y"], "z" in shallow]
