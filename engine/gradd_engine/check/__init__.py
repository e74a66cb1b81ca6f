"""gradcheck and its parts: Jacobians by differences, and what is said where derivatives disagree."""
