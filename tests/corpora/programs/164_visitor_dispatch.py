class Evaluator:
    def visit(self, node):
        return getattr(self, f"visit_{node['type']}")(node)

    def visit_number(self, node):
        return node["value"]

    def visit_add(self, node):
        return sum(self.visit(n) for n in node["args"])

    def visit_mul(self, node):
        result = 1
        for n in node["args"]:
            result *= self.visit(n)
        return result

number = lambda v: {"type": "number", "value": v}
tree = {"type": "add", "args": [number(1), {"type": "mul", "args": [number(2), number(3.5)]}]}
return Evaluator().visit(tree)
