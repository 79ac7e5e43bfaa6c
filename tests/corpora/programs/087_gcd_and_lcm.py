def gcd(a, b):
    while b:
        a, b = b, a % b
    return a

quantities = [i["quantity"] for o in await find_orders() for i in o["items"]]
common = quantities[0]
multiple = 1
for q in quantities:
    common = gcd(common, q)
    multiple = multiple * q // gcd(multiple, q)
return [quantities, common, multiple, math.gcd(*quantities), math.lcm(*quantities)]
