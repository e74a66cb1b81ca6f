// Sessions of a gradd daemon, and tensors in them.

export { GraddError, Session, type Options } from "./session.js";
export { Tensor, type Operand } from "./tensor.js";
export type * from "./schema.js";
