prices = [0.15, 0.35, 1.115, 2.675, 5.015]
return [round(p, 1 if p < 1 else 2) for p in prices]
