"""What the benchmarks use: data, the product, nginx, load, figures and how they are shown."""
