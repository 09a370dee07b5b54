"""The pages of `storefront`."""
