"""Written by sdk/python/generate from the contract; not to be edited."""
