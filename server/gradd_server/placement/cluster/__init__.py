"""Engine processes on the nodes of a Ray cluster.

Ray starts an actor a node (`actor`), which an `agent`, a process of its own beside the front, asks for and
looks after: nothing of Ray is in the front. The actor is a `host` that starts engine processes, and frames go
straight to those, over `links`.
"""
