import os
return [
    os.path.join("a", "b", "c.txt"), os.path.basename("/x/y.py"), os.path.splitext("a/b.tar.gz"),
    os.path.dirname("/x/y.py"), os.path.split("p/q"),
]
