// A session of a daemon: records steps, sends them as one batch, and brings values.

import type { Attr, Dtype, Input, Problem, Results, Step, TensorJson, TensorValue } from "./schema.js";
import { type Operand, Tensor } from "./tensor.js";

/** What the daemon refused, or PyTorch's error of a step. */
export class GraddError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail || problem.title);
    this.name = problem.exception ?? "GraddError";
  }
}

export interface Options {
  /** The daemon's address. */
  url?: string;
  /** An API key. */
  key?: string;
  /** The session's name; without one it is anonymous, and `close` ends it. */
  name?: string;
  /** Instead of the global one. */
  fetch?: typeof fetch;
}

interface Waiting {
  names: string[];
  resolve: (results: Results["results"]) => void;
  reject: (error: unknown) => void;
}

/** A named graph session. One batch is under way at a time; what is recorded meanwhile is the next. */
export class Session {
  readonly name: string;
  readonly #url: string;
  readonly #key: string | undefined;
  readonly #fetch: typeof fetch;
  readonly #anonymous: boolean;
  readonly #prefix = `ts${crypto.randomUUID().replaceAll("-", "")}`;
  #steps: Step[] = [];
  #grad: boolean | undefined;
  #count = 0;
  #waiting: Waiting[] = [];
  #dead: string[] = [];
  /** The end of what was sent, whatever became of it. */
  #tail: Promise<unknown> = Promise.resolve();
  #scheduled = false;
  readonly #finalizers = new FinalizationRegistry<string>((name) => this.#dead.push(name));

  private constructor(options: Options) {
    this.#url = (options.url ?? "http://127.0.0.1:4733").replace(/\/$/, "");
    this.#key = options.key;
    this.#fetch = options.fetch ?? ((...given) => fetch(...given));
    this.#anonymous = options.name === undefined;
    this.name = options.name ?? `anon-${crypto.randomUUID()}`;
  }

  /** Open the session, which is made if there is none of that name. */
  static async open(options: Options = {}): Promise<Session> {
    const session = new Session(options);
    await session.#ask("PUT", "");
    return session;
  }

  /** Send what is left, raise its errors; an anonymous session ends. */
  async close(): Promise<void> {
    try {
      await this.flush();
    } finally {
      if (this.#anonymous) await this.delete();
    }
  }

  async [Symbol.for("Symbol.asyncDispose")](): Promise<void> {
    await this.close();
  }

  /** End the session and drop its tensors. */
  async delete(): Promise<void> {
    await this.#ask("DELETE", "");
  }

  // -- tensors ------------------------------------------------------------------------------------

  /** A leaf with these elements: a number, or arrays nested as deep as it has dimensions. */
  async tensor(
    data: TensorJson["data"],
    options: { dtype?: Dtype; shape?: number[]; requiresGrad?: boolean; name?: string } = {},
  ): Promise<Tensor> {
    const name = options.name ?? this.#fresh();
    const body: TensorJson = { data, dtype: options.dtype ?? "float32" };
    if (options.shape !== undefined) body.shape = options.shape;
    if (options.requiresGrad !== undefined) body.requires_grad = options.requiresGrad;
    // What was recorded before may use a tensor of that name.
    if (options.name !== undefined) await this.flush();
    await this.#ask("PUT", `/tensors/${encodeURIComponent(name)}`, body);
    return options.name === undefined ? this.#made(name) : new Tensor(this, name);
  }

  /** The session's tensor of that name. */
  named(name: string): Tensor {
    return new Tensor(this, name);
  }

  // -- recording ----------------------------------------------------------------------------------

  /** Record an operation with one result. `GET /v1/ops` lists them all. */
  op(op: string, inputs: (Operand | Tensor[] | null)[], attrs: Record<string, Attr> = {}): Tensor {
    const name = this.#fresh();
    this.record({ op, inputs: inputs.map(asInput), attrs, outputs: [name] });
    return this.#made(name);
  }

  /** Record an operation that writes to its first input. */
  inPlace(op: string, to: Tensor, inputs: Operand[], attrs: Record<string, Attr> = {}): void {
    this.record({ op, inputs: [to, ...inputs].map(asInput), attrs });
  }

  /** Record a step as the daemon's JSON form has it. */
  record(step: Step): void {
    this.#steps.push(this.#grad === undefined ? step : { ...step, grad: this.#grad });
  }

  /** What a function records is not recorded for backward. The function is not async. */
  noGrad<T>(body: () => T): T {
    const before = this.#grad;
    this.#grad = false;
    try {
      return body();
    } finally {
      this.#grad = before;
    }
  }

  /** Send what was recorded, and wait until it has run. */
  async flush(): Promise<void> {
    await this.fetchAll([]);
  }

  /** The value of one name; null for a gradient that is none. */
  async fetch(name: string): Promise<TensorValue | null> {
    return (await this.fetchAll([name]))[name] ?? null;
  }

  /** The values of several names, in one batch with all that was recorded. */
  fetchAll(names: string[]): Promise<Results["results"]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ names, resolve, reject });
      if (this.#scheduled) return;
      // Values that are awaited together come together.
      this.#scheduled = true;
      queueMicrotask(() => {
        this.#scheduled = false;
        const [steps, waiting, dead] = [this.#steps, this.#waiting, this.#dead];
        [this.#steps, this.#waiting, this.#dead] = [[], [], []];
        this.#tail = this.#tail.then(() => this.#send(steps, waiting, dead));
      });
    });
  }

  async #send(steps: Step[], waiting: Waiting[], free: string[]): Promise<void> {
    const fetch = [...new Set(waiting.flatMap((each) => each.names))];
    try {
      const needed = steps.length > 0 || fetch.length > 0;
      const found = needed ? await this.#ask<Results>("POST", "/batches", { steps, fetch, free }) : null;
      for (const each of waiting) each.resolve(found?.results ?? {});
    } catch (error) {
      this.#dead.push(...free); // a batch that failed frees nothing
      for (const each of waiting) each.reject(error);
    }
  }

  async #ask<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
    const headers: Record<string, string> = { Accept: "application/json" };
    if (this.#key !== undefined) headers["Authorization"] = `Bearer ${this.#key}`;
    const request: RequestInit = { method, headers };
    if (body !== undefined) {
      headers["Content-Type"] = "application/json";
      request.body = JSON.stringify(body);
    }
    const address = `${this.#url}/v1/sessions/${encodeURIComponent(this.name)}${path}`;
    const reply = await this.#fetch(address, request);
    const text = await reply.text();
    if (reply.ok) return (text ? JSON.parse(text) : null) as T;
    const type = reply.headers.get("Content-Type") ?? "";
    if (type.startsWith("application/problem+json")) throw new GraddError(JSON.parse(text) as Problem);
    throw new Error(`HTTP ${reply.status}: ${text.slice(0, 200)}`);
  }

  #fresh(): string {
    this.#count += 1;
    return `${this.#prefix}.${this.#count}`;
  }

  #made(name: string): Tensor {
    const made = new Tensor(this, name);
    this.#finalizers.register(made, name);
    return made;
  }
}

function asInput(operand: Operand | Tensor[] | null): Input {
  if (operand instanceof Tensor) return operand.name;
  return Array.isArray(operand) ? operand.map((each) => each.name) : operand;
}
