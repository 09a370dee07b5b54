"""The benchmarks: one file each in `questions/`, tools in `kit/`. How each figure is made: README.md."""
