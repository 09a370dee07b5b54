"""What the questions need: data, the product, nginx, load, figures and how they are shown."""
