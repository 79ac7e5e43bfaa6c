import random
rng = random.Random(42)
names = [(await fetch_page(page=1))["items"], (await fetch_page(page=2))["items"]]
flat = [n for page in names for n in page]
picked = rng.sample(flat, 3)
return {"from": all(p in flat for p in picked), "unique": len(set(picked)), "again": random.Random(42).sample(flat, 3) == picked}
