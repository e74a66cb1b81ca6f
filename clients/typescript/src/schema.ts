// Generated from openapi.yaml by `make openapi`: edit neither.

/** One of the sessions that answered last; counts since its engine process has it. */
export interface ActiveSession {
  tenant: string;
  name: string;
  tensors: number;
  bytes: number;
  idle_seconds: number;
  counts: Record<string, number>;
}

/**
 * How batches ran since the session was made or made again, replays included, and the latest that were
 * measured.
 */
export interface Activity {
  planned: number;
  eager: number;
  /** Plans that were made. */
  traced: number;
  /** Why batches ran eagerly, and how many did. */
  reasons: Record<string, number>;
  /** Whether batches are measured now. */
  measuring: boolean;
  profile: Profiled;
}

/**
 * Become a writer of the session, or resume as an earlier one with `resume` and `epoch`. `client` is free
 * text for people.
 */
export interface Attach {
  type?: "attach";
  client?: string;
  resume?: number | null;
  epoch?: number | null;
}

/** The reply to Attach and Acquire. `window`: how many batches may be unacknowledged. */
export interface Attached {
  writer: number;
  epoch: number;
  window: number;
  session: SessionInfo;
}

/**
 * A parameter that takes no tensors: dtypes by NumPy's name, sizes as a list, the entries of an index as a
 * list, `"inf"`, `"-inf"` and `"nan"` for a float.
 */
export type Attr = boolean | null | number | string | Scalar | (boolean | number | string | null | unknown[] | IndexSlice | IndexInput)[];

/** The arguments of PyTorch's `backward`. */
export interface Backward {
  /** The gradient of the root, of the same shape. Optional for a root with one element. */
  gradient?: Reference | null;
  /** Whether the graph can be used again; null: same as `create_graph`. */
  retain_graph?: boolean | null;
  /** Whether to record the pass, so that the gradients can be differentiated. Default: `false`. */
  create_graph?: boolean;
  /** The tensors that accumulate gradients; null: all leaves. */
  inputs?: Reference[] | null;
}

/** Steps to run in order. */
export interface Batch {
  steps?: Step[];
  /** The values to return, as of after the last step. */
  fetch?: Reference[];
  /** The names to release after the last step. */
  free?: HeldName[];
  /** Points to add to curves, if no step fails. */
  log?: Point[];
}

/**
 * The batch at a position: how it ran ("planned", "eager"), `why` it was eager, its seconds in the engine
 * and in the queue, the moments when it `came` to the engine process and `began`, its writer's number, and
 * the seconds from its first step until its writer sent it, 0 where that is not told.
 */
export interface BatchTime {
  position: number;
  program: string;
  steps: number;
  how: string;
  why: string;
  seconds: number;
  waited: number;
  came?: number;
  began?: number;
  writer?: number;
  seq?: number;
  recording?: number;
}

/** A block of memory: what it is, and who has it. */
export interface BlockInfo {
  /** The name or id of its tensor, the node that made it, or who saved it. */
  label: string;
  kind: "beside" | "gradient" | "leaf" | "result" | "saved" | "tangent" | "tensor";
  bytes: number;
  shape: number[];
  dtype: string;
  /** Names, ids (`@writer.n`: a client has a handle), gradients of these, nodes that saved it. */
  holders: string[];
  /** Holders that are left out. */
  more: number;
}

/** The body of :cancel. */
export interface CancelOptions {
  /** Only the batches of this writer; 0: those that the session numbers. Absent: all. */
  writer?: number | null;
  /** Only those up to this number. */
  seq?: number | null;
}

export type ComplexPair = (boolean | number | NumberText)[];

/** The course of a session's memory, the last point as of now. */
export interface CourseInfo {
  /** Points are at least so many batches apart. */
  every: number;
  /** How many batches the session had consumed. */
  batches: number[];
  seconds_ago: number[];
  /** All that it held between two batches, tensors and what is beside them. */
  bytes: number[];
  /** The largest; what they do not make up is in others. */
  layers: MemoryLayer[];
}

/** What was logged under a name: every so many points of it, and the last. */
export interface Curve {
  /** Points that were logged. */
  count: number;
  /** One of so many is here. */
  every: number;
  steps: number[];
  values: (number | "-Infinity" | "Infinity" | "NaN")[];
}

/** What scripts logged in a session, by name. */
export interface CurveList {
  series: Record<string, Curve>;
  /** Points that were not taken: there were as many names as there may be. */
  dropped: number;
}

/** What a daemon does. */
export interface DaemonStatus {
  version: string;
  ready: boolean;
  uptime_seconds: number;
  connections: number;
  streams: number;
  /** Requests and batches in progress. */
  unanswered: number;
  /** What these hold in the daemon: bodies, frames, answers being sent. */
  traffic_bytes: number;
  /** Engine processes that took the place of one that ended. */
  restarts: number;
  /** Sessions that were lost with an engine process. */
  lost: number;
  engines: EngineLoad[];
  tenants: TenantLoad[];
  /** The latest first, at most 20 of each engine process. */
  sessions: ActiveSession[];
}

/**
 * Numbers, or `true` and `false`, nested as deep as the tensor has dimensions; that of a 0-d tensor stands
 * alone. Complex numbers are innermost `[re, im]`.
 */
export type Data = boolean | number | NumberText | DataList;

export type DataList = unknown[];

/** What a daemon is and can do. */
export interface Description {
  name: "gradd";
  version: string;
  /** The version of the wire protocol. */
  wire: string;
  /** Optional features beside frames over HTTP: check these, never the version. */
  extensions: string[];
  limits: Limits;
  dtypes: Dtype[];
}

/** What became of a node's sessions. */
export interface Drained {
  moved: number;
  /** Those that keep no record, or could not move: they stay until they end, or somebody asks again. */
  left: number;
}

/** NumPy's name. */
export type Dtype = "bool" | "uint8" | "int8" | "int16" | "int32" | "int64" | "uint16" | "uint32" | "uint64" | "float16" | "bfloat16" | "float32" | "float64" | "complex64" | "complex128";

/** An engine process; counts since it began, over all sessions that it has had. */
export interface EngineLoad {
  pid: number;
  /** Whether it shows signs of life. */
  up: boolean;
  /** Whether what follows is of now; it is the latest that is known where the process computes. */
  answers: boolean;
  /** Frames that it has not answered. */
  waiting: number;
  /** Its memory in RAM. */
  resident_bytes: number;
  /** By state: awake, asleep, recovering, refused. */
  sessions: Record<string, number>;
  tensors: number;
  /** What counts against the quotas of its sessions. */
  bytes: number;
  quota_bytes: number;
  /** Batches, and how many of them failed, were replayed or refused; steps; batches planned and eager. */
  counts: Record<string, number>;
  /** In which it ran batches. */
  seconds: number;
  /** The node of the cluster where it runs, if that is no process of the daemon's machine. */
  node: string;
}

/** The body of `tensors:fetch`. */
export interface FetchOptions {
  names: Reference[];
}

/** Tensors by the requested names; null for a gradient that is None. */
export interface FetchedValues {
  results: Record<string, TensorValue | null>;
}

/** A batch in the front: when it came, was submitted to its engine process, and was answered. */
export interface FrontTime {
  writer: number;
  seq: number;
  came: number;
  submitted: number;
  answered: number;
}

/** From input `slot` of a node to output `nr` of another. */
export interface GraphEdge {
  from: number;
  slot: number;
  to: number;
  nr: number;
}

/** A tensor's graph, nearest nodes first; `root` is null if the tensor does not require gradients. */
export interface GraphInfo {
  root: number | null;
  nodes: GraphNode[];
  edges: GraphEdge[];
  /** Whether there are more than `max_nodes`. */
  truncated: boolean;
  max_nodes: number;
}

/** The leaf whose gradient a node accumulates; `tensor` is null if it has no name. */
export interface GraphLeaf {
  tensor: string | null;
  shape: number[];
  dtype: Dtype;
}

/** A node; `freed`: a pass freed its saved tensors. `source`: which line made it, if its writer told. */
export interface GraphNode {
  id: number;
  name: string;
  outputs: NodeOutput[];
  saved: SavedInfo[];
  freed: boolean;
  leaf?: GraphLeaf;
  source?: SourceLine;
}

/** A tensor that can be freed: a shared name, an id or `%name`. */
export type HeldName = string;

/** Steps that a pass runs when it reaches a tensor or its node. */
export interface Hook {
  /** The tensor it is registered on. */
  tensor: Reference;
  /** When it runs. Default: `"tensor"`. */
  kind?: HookKind;
  /** Names for what the hook receives; null: `%g`. */
  inputs?: (TemporaryName | null)[] | null;
  steps?: Step[];
  /** Names of the replacements; null: none. */
  outputs?: (Reference | null)[] | null;
}

/** A hook as declared, and how often it ran. */
export interface HookInfo {
  name: TensorName;
  tensor: Reference;
  kind: HookKind;
  inputs: (TemporaryName | null)[] | null;
  steps: Step[];
  outputs: (Reference | null)[] | null;
  runs: number;
}

export type HookKind = "post_accumulate" | "posthook" | "prehook" | "tensor";

/** Hooks in order of declaration. */
export interface HookList {
  hooks: HookInfo[];
}

/** An entry of an index that is a tensor: the step's k-th input after the indexed one. */
export interface IndexInput {
  input: number;
}

/** An entry of an index: `start:stop:step`. */
export interface IndexSlice {
  slice: (number | null)[];
}

/** One input of a step: an item, or a list of items. */
export type Input = Reference | boolean | null | number | InputItem[] | Scalar;

/** A tensor, a number, or an optional that is absent. */
export type InputItem = Reference | boolean | number | Scalar | null;

export type InputList = Input[];

export type InputMap = Record<string, Input>;

export type Inputs = InputList | InputMap;

/** One call of a kernel, as `[name, began, seconds]`. */
export type KernelRun = unknown[];

/** Calls and seconds of one kernel, in batches that ran `how`: "planned" or "eager". */
export interface KernelTime {
  name: string;
  how: string;
  calls: number;
  seconds: number;
}

/** Limits of a daemon. Sizes are in bytes unless the name says otherwise; `DEFAULT` has the defaults. */
export interface Limits {
  /** A JSON body, and the JSON header of a frame. */
  json_bytes: number;
  /** Nesting of a JSON body. */
  json_depth: number;
  /** Arrays and objects in one JSON text, which bounds the memory that a small text can expand to. */
  json_containers: number;
  /** A stream message from a client. */
  client_message_bytes: number;
  /** A stream message from the server. */
  server_message_bytes: number;
  /** One uploaded tensor. */
  upload_bytes: number;
  /** An upload inside its batch; larger ones are staged. */
  inline_upload_bytes: number;
  /** A result inside its reply; larger ones are pinned and read with GET. */
  inline_result_bytes: number;
  /** Uploads of one session waiting for their batch. */
  staged_bytes: number;
  /** Tensors of one session, unless it was opened with its own quota. */
  session_bytes: number;
  /** Ids and names of tensors of one session. */
  session_tensors: number;
  /** Nodes of the graphs of one session, about: a batch is not begun where there are so many. */
  session_nodes: number;
  /** Steps of one batch. */
  batch_steps: number;
  /** Entries of any one list of a batch (inputs, values, keep, fetch, free, ...). */
  batch_ids: number;
  /** Unacknowledged batches of one writer. */
  window_batches: number;
  /** Bytes of the unacknowledged batches of one writer. */
  window_bytes: number;
  /** Hooks of one session declared over REST. */
  hooks: number;
  /** Steps of one hook declared over REST. */
  hook_steps: number;
  /** Steps of such hooks in one batch, in all. */
  batch_hook_steps: number;
  /** Nodes in one picture of a graph. */
  graph_nodes: number;
  /** Batches that are measured at a request, after which it ends by itself. */
  measured_batches: number;
  /** Snapshots of one session that were taken by hand and not deleted. */
  snapshots: number;
  /** What a snapshot has beside its tensors' elements. */
  snapshot_state_bytes: number;
  /** Idempotency keys remembered by one session. */
  stored_keys: number;
  /** Dimensions of one tensor. */
  dims: number;
  /** Buffers of one frame. */
  frame_buffers: number;
  /** Nesting of lists in a static parameter. */
  static_depth: number;
  /** A session or tensor name. */
  name_chars: number;
  /** An op or attribute name. */
  op_name_chars: number;
  /** All headers of one HTTP request. */
  http_header_bytes: number;
  /** Number of headers of one HTTP request. */
  http_headers: number;
}

/** A session in a list. */
export interface ListedSession {
  name: SessionName;
  epoch: number;
  last_position: number;
  tensors: number;
  bytes: number;
  messages: number;
  batches: number;
  round_trips: number;
  steps: number;
  writers: number;
  /** Whether it is on the disk only, until somebody asks it for something else. */
  asleep: boolean;
  /** The last time that other kernels made it again, if any did. */
  restored?: Restored;
  /** The kind of device that it computes on, where that is not `cpu`. */
  device?: string;
  /** The node of the cluster that it is on, where there is a cluster. */
  node?: string;
  /** Its engine process ended; it can only be deleted. */
  lost?: boolean;
  /** The problem for which its store does not give it at the moment. */
  away?: "disk-full" | "recovering" | "store-failed";
}

/**
 * An open session. Of those that answered last there are figures, counted since their engine process has
 * them.
 */
export interface LiveSession {
  tenant: string;
  name: string;
  /** Clients that are connected to it. */
  streams: number;
  tensors?: number;
  bytes?: number;
  idle_seconds?: number;
  counts?: Record<string, number>;
}

/** What a daemon does, as far as the asker may see it. */
export interface LiveState {
  version: string;
  /** The asker's. */
  tenant: string;
  /** `reader`: of a share, who sees its session alone. */
  role: "operator" | "reader" | "user";
  ready: boolean;
  uptime_seconds: number;
  /** For operators alone. */
  engines: EngineLoad[];
  tenants: TenantLoad[];
  /** The latest first; then those of which there are no figures. */
  sessions: LiveSession[];
  /** Sessions that are left out. */
  more: number;
}

/** The process is running. */
export interface Liveness {
  status: "live";
}

/** The body of :measure. */
export interface MeasureOptions {
  /** How many to measure. */
  batches?: number;
}

/** What holds a session's memory, and its course. */
export interface MemoryInfo {
  /** Of tensors and graphs. */
  bytes: number;
  /** The session's quota. */
  limit: number;
  /**
   * Bytes that count, too: `objects` (tensors and nodes themselves), `plans`, `results` to be read,
   * `uploads` that wait for their batch, and the `rest` (programs, replies).
   */
  beside: Record<string, number>;
  /** The largest, at most 100. */
  blocks: BlockInfo[];
  more_blocks: number;
  /** Bytes that were found with nobody: a pass under way has them, or what was not looked at. */
  untold: number;
  /** Whether there was more to look at. */
  truncated: boolean;
  /** Since the session's engine process has it, without layers. */
  whole: CourseInfo;
  /** Since it is watched, with layers. */
  watched: CourseInfo;
}

/** What blocks of one kind and label had together, at each point of a course. */
export interface MemoryLayer {
  kind: "beside" | "gradient" | "leaf" | "result" | "saved" | "tangent" | "tensor";
  label: string;
  bytes: number[];
}

/** A new program: the one before it, and the first step in which they differ. */
export interface Miss {
  program: string;
  like: string;
  step: number;
  was: string;
  found: string;
}

/** The body of :move. */
export interface MoveOptions {
  /** Ray's id of the node. Absent: of the others, the one with most memory left for the tenant. */
  node?: string | null;
}

/** Where a session is. */
export interface Moved {
  node: string;
}

/** A share that was made. */
export interface NewShare {
  id: string;
  created: number;
  expires: number;
  /** Its key, which is told once. */
  token: string;
}

/** The engine processes of the cluster, by node. */
export interface NodeList {
  nodes: NodeLoad[];
}

/** An engine process of a node, or a drained node that has none. */
export interface NodeLoad {
  /** Ray's id of the node. */
  node: string;
  /** The node's address. */
  machine: string;
  device: string;
  /** 0 where there is no process. */
  pid: number;
  /** Whether it shows signs of life. */
  up: boolean;
  /** Whether the node gets no sessions. */
  drained: boolean;
  sessions: number;
}

/** Output `nr` of a node. */
export interface NodeOutput {
  nr: number;
  shape: number[];
  dtype: Dtype;
}

/** A number that JSON has no other way to say: not finite, or an integer beyond 2^53. */
export type NumberText = string;

/** A parameter that takes no tensors. */
export interface OpAttr {
  name: string;
  /** The JSON schema of its values. */
  schema: Record<string, unknown>;
  /** Whether it may differ from batch to batch without a new program. */
  run_time: boolean;
  nullable: boolean;
  /** If absent, the attribute is required. */
  default?: unknown;
}

/** Every op that a step may call, by name. */
export interface OpCatalogue {
  ops: Record<string, OpInfo>;
}

/** An op that a step may call; `inputs` and `attrs` in PyTorch's order. */
export interface OpInfo {
  name: string;
  signature: string;
  doc: string;
  inputs: OpInput[];
  attrs: OpAttr[];
  differentiable: boolean;
  in_place: boolean;
  view: boolean;
  random: boolean;
}

/** A parameter that takes tensors. */
export interface OpInput {
  name: string;
  /** As in PyTorch's signatures: `Tensor`, `Tensor?`, `Tensor[]`, `Tensor|Number`. */
  kind: string;
  optional: boolean;
}

/** A name that a step may give: shared, or with `%` temporary. */
export type OutputName = string;

/** A point of a curve. */
export interface Point {
  name: string;
  /** A tensor with one element, as it is after the last step, or a number. */
  value: Reference | number | Scalar;
  /** Its place; null: its number in the curve. */
  step?: number | null;
}

/** The body of an `application/problem+json` answer; frames use the same members. */
export interface Problem {
  /** `/problems/<slug>`, where the daemon serves a description. */
  type: ProblemType;
  title: string;
  status: number;
  /** What happened this time; PyTorch's message if a step failed. */
  detail?: string;
  /** Name of PyTorch's exception class, e.g. `RuntimeError`. */
  exception?: string;
  /** Index of the step at fault in its batch. */
  step?: number;
  /** Number of steps that took effect. */
  applied?: number;
  /** Index of the node in the backward pass in which anomaly detection found NaN. */
  node?: number;
  /** Whose limit it is, where it is not the session's: `tenant`, `engine process`. */
  whose?: string;
  /** What the limit counts, where it is not bytes: `tensors`, `graph nodes`. */
  what?: string;
  limit?: number;
  used?: number;
  requested?: number;
  expected_seq?: number;
  epoch?: number;
  supported?: string[];
  /** `[{"detail": ..., "pointer": "/steps/0/op"}]`: where the error is in a JSON body. */
  errors?: Record<string, string>[];
  /** In seconds. */
  retry_after?: number;
  request_id?: string;
}

/** What a problem type means. */
export interface ProblemPage {
  type: ProblemType;
  title: string;
  status: number;
  description: string;
}

/** What went wrong. A GET of it says more. */
export type ProblemType = "/problems/malformed-frame" | "/problems/invalid-json" | "/problems/invalid-name" | "/problems/bad-request" | "/problems/unauthenticated" | "/problems/forbidden" | "/problems/read-only" | "/problems/origin-refused" | "/problems/not-found" | "/problems/session-not-found" | "/problems/tensor-not-found" | "/problems/op-not-found" | "/problems/hook-not-found" | "/problems/result-not-found" | "/problems/batch-not-found" | "/problems/snapshot-not-found" | "/problems/method-not-allowed" | "/problems/not-acceptable" | "/problems/request-timeout" | "/problems/deadline-exceeded" | "/problems/sequence-gap" | "/problems/sequence-conflict" | "/problems/writer-fenced" | "/problems/writer-unknown" | "/problems/program-unknown" | "/problems/upload-missing" | "/problems/idempotency-conflict" | "/problems/window-exceeded" | "/problems/cancelled" | "/problems/session-exists" | "/problems/session-busy" | "/problems/reply-expired" | "/problems/length-required" | "/problems/body-too-large" | "/problems/unsupported-media-type" | "/problems/host-refused" | "/problems/invalid-op" | "/problems/op-not-callable" | "/problems/invalid-data" | "/problems/invalid-snapshot" | "/problems/op-failed" | "/problems/work-exceeded" | "/problems/skipped" | "/problems/time-exceeded" | "/problems/rate-limited" | "/problems/too-many" | "/problems/headers-too-large" | "/problems/internal" | "/problems/draining" | "/problems/not-ready" | "/problems/device-lost" | "/problems/recovering" | "/problems/store-failed" | "/problems/overloaded" | "/problems/disk-full" | "/problems/quota-exceeded";

/** The body of :profile. */
export interface ProfileOptions {
  /** Whether to measure from now on. */
  on: boolean;
}

/**
 * What was measured: counts since the start, and the latest of `batches`, `misses`, `calls` and `front`.
 * `hits` and `misses` count batches whose program the session knew or did not. Seconds are wall time;
 * moments are seconds of the daemon's clock.
 */
export interface Profiled {
  planned: number;
  eager: number;
  hits: number;
  misses: Miss[];
  new_programs: number;
  bytes_in: number;
  bytes_out: number;
  seconds: number;
  waited: number;
  kernels: KernelTime[];
  batches: BatchTime[];
  calls: KernelRun[];
  front: FrontTime[];
}

/** The daemon takes work; checks and counts are included with `?verbose`. */
export interface Readiness {
  status: "ready";
  checks?: Record<string, "ok">;
  sessions?: number;
  streams?: number;
  /** Requests in progress. */
  unanswered?: number;
}

/** A session of `:reduce`: what it gives, and where it gets the results. */
export interface ReduceMember {
  session: SessionName;
  /** What it gives, in the order of the results; absent: nothing. */
  tensors?: Reference[];
  /** Under which key of its writers each result is staged; absent: it gets none. */
  uploads?: UploadKey[];
}

/** The body of `:reduce`. */
export interface ReduceOptions {
  /** The sessions. Tensors are added in their order. */
  members: ReduceMember[];
  /** What becomes of the tensors that stand at the same place of their lists. Default: `"sum"`. */
  op?: "mean" | "sum";
}

/** What `:reduce` staged, in the order of the members' lists. */
export interface Reduced {
  results: ReducedTensor[];
}

/** What was staged. */
export interface ReducedTensor {
  dtype: Dtype;
  shape: number[];
}

/** A tensor: a shared name, an id `@writer.n` or `%name`; with `.grad` after it, its gradient. */
export type Reference = string;

/** What became of a session when it was made again by other kernels than those that had run it. */
export interface Restored {
  /** The entry of its record at which it began: what came of those before is the same to the bit. */
  snapshot: number;
  /** How many were run again. */
  entries: number;
  /** Of these, those whose stored reply has other bits. */
  differing: number;
  /** How many could not be run again: they are not in the session, and its epoch is a new one. */
  lost: number;
  /** The kernels that had run them, what they depend on included; empty if that is not known. */
  made_by: string;
  /** Those that have. */
  by: string;
}

/** The outcome of a batch: what was fetched, by name; null for a gradient that is None. */
export interface Results {
  /** The batch's number, counted by its writer. */
  seq: number;
  /** The number of changes to the session so far. */
  position: number;
  results: Record<string, TensorValue | null>;
}

/** A tensor that a node keeps for backward. */
export interface SavedInfo {
  name: string;
  shape: number[];
  dtype: Dtype;
  bytes: number;
}

/** A number that plain JSON cannot express: with a dtype, complex (`[re, im]`), or not finite. */
export interface Scalar {
  scalar: ScalarValue;
  /** If absent, a Python number, which does not determine a result's dtype. */
  dtype?: Dtype | null;
}

export type ScalarValue = boolean | number | NumberText | ComplexPair;

/** A session as `GET /v1/sessions/{name}` shows it. `tensors` .. `writers` are counts. */
export interface SessionInfo {
  name: SessionName;
  epoch: number;
  last_position: number;
  tensors: number;
  bytes: number;
  messages: number;
  batches: number;
  round_trips: number;
  steps: number;
  writers: number;
  /** Whether it is on the disk only, until somebody asks it for something else. */
  asleep: boolean;
  /** The last time that other kernels made it again, if any did. */
  restored?: Restored;
  /** The kind of device that it computes on, where that is not `cpu`. */
  device?: string;
  /** The node of the cluster that it is on, where there is a cluster. */
  node?: string;
}

/** The name of a session. */
export type SessionName = string;

/** The body of PUT session. Absent members have the daemon's defaults. */
export interface SessionOptions {
  /**
   * The daemon's device, or one of its GPUs, as `cuda:1`; `cuda` is any of them. Absent: the daemon's; of
   * several GPUs the one with most memory left for the tenant.
   */
  device?: string | null;
  /** Limit for the session's tensors, in bytes. */
  quota_bytes?: number | null;
  /**
   * What the session survives: with `process` (the default of a session with a name) the end of the daemon
   * and of its engine processes, with `disk` that of the machine, with `memory` neither.
   */
  durability?: "disk" | "memory" | "process" | null;
  /** Where a new session begins: with what that one's names held there, and none of its clients. */
  from_snapshot?: SnapshotRef | null;
}

/** Sessions by name. */
export interface SessionPage {
  sessions: ListedSession[];
  /** The `page_token` of the next page; absent on the last page. */
  next_page_token?: string;
}

/** A share of a session; times are in seconds of the epoch. */
export interface ShareInfo {
  id: string;
  created: number;
  expires: number;
}

/** The shares of a session that have not ended, the latest first. */
export interface ShareList {
  shares: ShareInfo[];
}

/** The body of POST shares. */
export interface ShareOptions {
  /** How long the share lives; 168 where it is not said. */
  hours?: number;
}

export type SnapshotId = string;

/** A snapshot that was taken by hand, of the session at `position`. */
export interface SnapshotInfo {
  id: SnapshotId;
  session: SessionName;
  position: number;
  /** Of its file. */
  bytes: number;
  /** Seconds since 1970. */
  created: number;
}

/** Snapshots that were taken by hand, the latest first. */
export interface SnapshotList {
  snapshots: SnapshotInfo[];
}

/** A snapshot that this daemon has. */
export interface SnapshotRef {
  session: SessionName;
  id: string;
}

/** A line of a script. A file below the folder in which that ran is named from there. */
export interface SourceLine {
  file: string;
  line: number;
}

/** One op call. */
export interface Step {
  op: string;
  /** In the order of the op's parameters that take tensors, or by parameter name. */
  inputs?: Inputs;
  /** The other parameters, by name. */
  attrs?: Record<string, Attr>;
  /** A name for each result, null to drop it. If absent, all are dropped. */
  outputs?: (OutputName | null)[] | null;
  /**
   * Whether the op is recorded for backward; false is PyTorch's `no_grad`, "inference" its `inference_mode`.
   * Default: `true`.
   */
  grad?: boolean | "inference";
}

/** A name that lives for its batch or hook only. */
export type TemporaryName = string;

/** What a tenant has, and has had computed. */
export interface TenantLoad {
  tenant: string;
  sessions: number;
  bytes: number;
  batches: number;
  /** Of engine time. */
  seconds: number;
}

/** A session tensor as the mirror needs it. Strides are in elements; `dtype` is NumPy's name. */
export interface TensorInfo {
  id: string;
  name: string | null;
  shape: number[];
  strides: number[];
  dtype: Dtype;
  requires_grad: boolean;
  is_leaf: boolean;
  version: number;
  has_grad: boolean;
  /** Created in inference mode. */
  is_inference?: boolean;
  /** Its memory holds conjugated values. */
  is_conj?: boolean;
  /** It has its own history; a view without one gets it from its base on demand. */
  has_graph?: boolean;
  /** `requires_grad` was set on it; otherwise a view requires gradients if its base does. */
  is_marked?: boolean;
}

/** A tensor to create; `data` are still raw JSON. */
export interface TensorJson {
  data: Data;
  dtype: Dtype;
  /** Sizes. By default the nesting of `data` gives them; with `shape`, `data` may be flat. */
  shape?: number[] | null;
  /** Whether backward passes compute its gradient. Default: `false`. */
  requires_grad?: boolean;
}

/** A shared name of a tensor. It lives until it is released or bound anew. */
export type TensorName = string;

/** A tensor's info and data. */
export interface TensorValue {
  dtype: Dtype;
  shape: number[];
  data: Data;
}

/** Every tensor of the session. */
export interface Tensors {
  tensors: TensorInfo[];
}

/** The key `writer.n` of an upload that waits for its batch. */
export type UploadKey = string;

export type Problem400 = unknown;

export type Problem401 = unknown;

export type Problem403 = unknown;

export type Problem404 = unknown;

export type Problem406 = unknown;

export type Problem408 = unknown;

export type Problem409 = unknown;

export type Problem410 = unknown;

export type Problem411 = unknown;

export type Problem413 = unknown;

export type Problem415 = unknown;

export type Problem421 = unknown;

export type Problem422 = unknown;

export type Problem424 = unknown;

export type Problem429 = unknown;

export type Problem431 = unknown;

export type Problem500 = unknown;

export type Problem503 = unknown;

export type Problem507 = unknown;
