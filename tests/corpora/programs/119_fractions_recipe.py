from fractions import Fraction
recipe = {"flour": Fraction(3, 4), "sugar": Fraction(1, 3), "milk": Fraction("1.5")}
scaled = {name: str(amount * Fraction(2, 3)) for name, amount in recipe.items()}
return {"scaled": scaled, "sum": str(sum(recipe.values())), "limit": str(Fraction(math.pi).limit_denominator(100))}
