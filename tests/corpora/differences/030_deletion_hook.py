class Handle:
    def __del__(self):
        print("closed")

handle = Handle()
handle = None
print("after")
