"""Several fronts over one data directory: one leads, which has the sessions, and the others pass on to it
what comes to them, until one of them takes the lead.
"""
