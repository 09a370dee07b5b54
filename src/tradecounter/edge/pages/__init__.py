"""What the pages of both sites are declared with: pages, forms, steps, lists, menus."""
