import csv
text = (await read_file(path="data/sales.csv"))["content"]
rows = list(csv.DictReader(text.splitlines()))
by_product = {}
for row in rows:
    by_product[row["product"]] = by_product.get(row["product"], 0) + int(row["units"])
print(by_product)
return sorted(by_product.items(), key=lambda p: (-p[1], p[0]))[:2]
