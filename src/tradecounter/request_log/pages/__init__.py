"""The pages of `request_log`."""
