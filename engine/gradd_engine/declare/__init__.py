"""From a declaration to a call: declarators, the function of an op, `dispatch`, and the names users see."""
