import random
random.seed(7)
a = [random.random() for _ in range(3)]
random.seed(7)
b = [random.random() for _ in range(3)]
n = random.randint(1, 6)
shuffled = list(range(10))
random.shuffle(shuffled)
return [a == b, all(0 <= x < 1 for x in a), 1 <= n <= 6, sorted(shuffled), random.choice([4]), len(random.sample(range(9), 4))]
