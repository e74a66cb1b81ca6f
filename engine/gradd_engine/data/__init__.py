"""What a tensor is made of: dtypes, layouts, storages, devices, memory accounts, random bits, and the state
of the thread that computes.
"""
