stock = {"rope": 3, "hook": 0, "sail": 1}
for name in list(stock):
    if not stock[name]:
        del stock[name]
items = [1, 2, 3, 4, 5]
del items[1:3]
del items[0]
x = 5
del x
try:
    x
except NameError:
    gone = True
return [stock, items, gone]
