"""The questions, in the order in which they are asked; each module has `answer`, and its docstring asks."""
