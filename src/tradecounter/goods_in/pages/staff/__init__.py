"""The pages of `goods_in` in the back office."""
