"""The benchmarks, in the order in which they run: each module measures one question, which its docstring states."""
