def price(sku):
    print("price of", sku)
    return len(sku)

prices = (price(sku) for sku in ["rope", "anchor"])
print("nothing yet")
for p in prices:
    print(p)
