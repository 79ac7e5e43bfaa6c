import bisect
marks = [60, 70, 80, 90]
def grade(score):
    return "FDCBA"[bisect.bisect(marks, score)]
grades = [grade(s) for s in (59, 60, 71, 99)]
bisect.insort(marks, 75)
return [grades, marks, bisect.bisect_left([1, 2, 2, 3], 2)]
