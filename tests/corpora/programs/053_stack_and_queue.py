from collections import deque

class Stack:
    def __init__(self):
        self._items = []
    def push(self, item):
        self._items.append(item)
    def pop(self):
        return self._items.pop()
    def __len__(self):
        return len(self._items)

def balanced(text):
    pairs = {")": "(", "]": "[", "}": "{"}
    stack = Stack()
    for char in text:
        if char in "([{":
            stack.push(char)
        elif char in pairs:
            if not len(stack) or stack.pop() != pairs[char]:
                return False
    return len(stack) == 0

queue = deque(maxlen=3)
for n in range(5):
    queue.append(n)
queue.rotate(1)
return [balanced("([]{})"), balanced("([)]"), balanced("(("), list(queue), queue.popleft()]
