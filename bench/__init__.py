"""The benchmarks: one file of `questions/` for each question, tools in `kit/`. How each figure is made: README.md."""
