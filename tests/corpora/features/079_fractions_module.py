from fractions import Fraction
a = Fraction(1, 3) + Fraction("1/6")
return [str(a), a == Fraction(1, 2), float(a), Fraction(0.75).denominator, str(sum([Fraction(1, n) for n in range(1, 6)], Fraction(0)))]
