from graphlib import TopologicalSorter

sorter = TopologicalSorter({"deploy": {"test"}, "test": {"build"}, "build": set()})
return list(sorter.static_order())
