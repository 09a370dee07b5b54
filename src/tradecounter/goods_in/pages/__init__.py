"""The pages of `goods_in`."""
