TRANSITIONS = {
    ("open", "pay"): "paid",
    ("paid", "ship"): "shipped",
    ("open", "cancel"): "cancelled",
    ("paid", "cancel"): "refunded",
}

def run(state, events):
    trail = [state]
    for event in events:
        state = TRANSITIONS.get((state, event), state)
        trail.append(state)
    return trail

results = []
for order in await find_orders(customer="ada"):
    trail = run(order["status"], ["pay", "ship", "cancel"])
    results.append(f"{order['id']}: " + " > ".join(trail))
results
