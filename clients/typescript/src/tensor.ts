// A tensor in a session. Operations are recorded, and sent when a value is awaited.

import type { Attr, Input, TensorValue } from "./schema.js";
import type { Session } from "./session.js";

/** What an operation takes beside a tensor. */
export type Operand = Tensor | number | boolean;

/** A tensor of a session, by its name there. */
export class Tensor {
  /** Made by `Session.tensor`, `Session.named` and operations. */
  constructor(
    readonly session: Session,
    readonly name: string,
  ) {}

  /** Another operation of the daemon's catalogue, on this tensor first: `x.op("cumsum", [], { dim: 0 })`. */
  op(op: string, inputs: (Operand | Tensor[] | null)[] = [], attrs: Record<string, Attr> = {}): Tensor {
    return this.session.op(op, [this, ...inputs], attrs);
  }

  // -- operations ---------------------------------------------------------------------------------

  add = (other: Operand): Tensor => this.op("add", [other]);
  sub = (other: Operand): Tensor => this.op("sub", [other]);
  mul = (other: Operand): Tensor => this.op("mul", [other]);
  div = (other: Operand): Tensor => this.op("div", [other]);
  pow = (exponent: Operand): Tensor => this.op("pow", [exponent]);
  matmul = (other: Tensor): Tensor => this.op("matmul", [other]);
  neg = (): Tensor => this.op("neg");
  exp = (): Tensor => this.op("exp");
  log = (): Tensor => this.op("log");
  relu = (): Tensor => this.op("relu");
  tanh = (): Tensor => this.op("tanh");
  sigmoid = (): Tensor => this.op("sigmoid");
  t = (): Tensor => this.op("t");

  /** The sum, of all elements or along dimensions. */
  sum(dim?: number | number[], keepdim = false): Tensor {
    return this.op("sum", [], over(dim, keepdim));
  }

  /** The mean, of all elements or along dimensions. */
  mean(dim?: number | number[], keepdim = false): Tensor {
    return this.op("mean", [], over(dim, keepdim));
  }

  /** The same elements in another shape. */
  reshape(...shape: number[]): Tensor {
    return this.op("reshape", [], { shape });
  }

  /** In place: `this -= alpha * other`. Within `session.noGrad`, the step of an optimizer. */
  sub_(other: Tensor | Gradient, alpha = 1): this {
    this.session.inPlace("sub_", this, [other], { alpha });
    return this;
  }

  /** In place: all elements 0. */
  zero_(): this {
    this.session.inPlace("zero_", this, [], {});
    return this;
  }

  // -- autograd -----------------------------------------------------------------------------------

  /** Adds the gradients of this tensor to those of the leaves; recorded, as operations are. */
  backward(options: { gradient?: Tensor; retainGraph?: boolean; createGraph?: boolean } = {}): void {
    const attrs: Record<string, Attr> = {};
    if (options.retainGraph !== undefined) attrs["retain_graph"] = options.retainGraph;
    if (options.createGraph !== undefined) attrs["create_graph"] = options.createGraph;
    const inputs: Input[] = [this.name];
    if (options.gradient !== undefined) inputs.push(options.gradient.name);
    this.session.record({ op: "backward", inputs, attrs });
  }

  /** The gradient, for operations: `w.sub_(w.gradient, 0.1)`. */
  get gradient(): Gradient {
    return new Gradient(this);
  }

  /** The gradient's value; null if there is none. */
  async grad(): Promise<TensorValue | null> {
    return this.session.fetch(`${this.name}.grad`);
  }

  /** Forget the gradients of this tensor. */
  zeroGrad(): void {
    this.session.record({ op: "zero_grad", inputs: [[this.name]] });
  }

  // -- values -------------------------------------------------------------------------------------

  /** The value: dtype, shape, and data as nested arrays. */
  async value(): Promise<TensorValue> {
    const found = await this.session.fetch(this.name);
    if (found === null) throw new TypeError(`${this.name} has no value`);
    return found;
  }

  /** The data, as nested arrays. */
  async data(): Promise<TensorValue["data"]> {
    return (await this.value()).data;
  }

  /** The only element. */
  async item(): Promise<number> {
    const { data } = await this.value();
    const flat: unknown = Array.isArray(data) ? data.flat(Infinity) : [data];
    if (!Array.isArray(flat) || flat.length !== 1) throw new TypeError("a tensor of one element has an item");
    return Number(flat[0]);
  }
}

/** The gradient of a tensor, as an operand. */
export class Gradient extends Tensor {
  /** `of` stays as long as its gradient is in use. */
  constructor(readonly of: Tensor) {
    super(of.session, `${of.name}.grad`);
  }
}

function over(dim: number | number[] | undefined, keepdim: boolean): Record<string, Attr> {
  return dim === undefined ? {} : { dim, keepdim };
}
