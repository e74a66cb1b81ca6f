// Recurrent layers in one direction, and their gradients.
//
// Where the states of a few samples fit the memory that a block shares, one launch runs all steps: a block
// has four samples and a thread for each unit, which keeps its states in registers and reads the others' from
// shared memory. The weight is read anew in each step, mostly from the caches, each number for four samples.
// Wider layers have a matrix product in each step, and a launch for what is around it.
//
// Rows of all steps lie one below the other, as in `kernels/recurrent.py`; what is kept is told there too.
#define SAMPLES 4

// How many units a layer may have for which one block runs all steps.
template <class T> struct Most {
    static const int units = 1024 / sizeof(T);
};

// A number of each sample, read at once.
template <class T> struct alignas(16) Few {
    T of[SAMPLES];
};

template <class T> __device__ inline T logistic(T x) { return (T)1 / ((T)1 + expo(-x)); }

// Cells. `next` makes a unit's states, in place, and what is kept, from `x`, which the inputs add, and
// `sums`, products of the states and the weight with the bias. `made` gives the states that a step made, by
// what it kept. `back` takes the gradients of the states, `d`, and of what was kept, `more`; it leaves in `d`
// those of the states before, as far as they do not come by the sums, and writes those of `sums`, `slopes`,
// and of `x`, `into`.
struct Lstm {
    static const int states = 2, gates = 4, kept = 5;
    template <class T> __device__ static void next(const T *x, const T *sums, T *state, T *keep) {
        keep[0] = logistic(sums[0] + x[0]);
        keep[1] = logistic(sums[1] + x[1]);
        keep[2] = tangent(sums[2] + x[2]);
        keep[3] = logistic(sums[3] + x[3]);
        keep[4] = state[1] = keep[1] * state[1] + keep[0] * keep[2];
        state[0] = keep[3] * tangent(state[1]);
    }
    template <class T> __device__ static void made(const T *keep, T *state) {
        state[0] = keep[3] * tangent(keep[4]);
        state[1] = keep[4];
    }
    template <class T> __device__ static void back(const T *keep, const T *more, const T *before, T *d,
                                                   T *slopes, T *into) {
        T i = keep[0], f = keep[1], g = keep[2], o = keep[3], top = tangent(keep[4]), one = 1;
        T dc = d[1] + d[0] * o * (one - top * top) + more[4];
        slopes[0] = (dc * g + more[0]) * ((one - i) * i);
        slopes[1] = (dc * before[1] + more[1]) * ((one - f) * f);
        slopes[2] = (dc * i + more[2]) * (one - g * g);
        slopes[3] = (d[0] * top + more[3]) * ((one - o) * o);
        for (int e = 0; e < gates; e++) into[e] = slopes[e];
        d[0] = 0;
        d[1] = dc * f;
    }
};

struct Gru {
    static const int states = 1, gates = 3, kept = 5;
    template <class T> __device__ static void next(const T *x, const T *sums, T *state, T *keep) {
        T r = logistic(x[0] + sums[0]), z = logistic(x[1] + sums[1]), n = tangent(x[2] + sums[2] * r);
        keep[0] = r;
        keep[1] = z;
        keep[2] = n;
        keep[3] = sums[2];
        keep[4] = state[0] = (state[0] - n) * z + n;
    }
    template <class T> __device__ static void made(const T *keep, T *state) { state[0] = keep[4]; }
    template <class T> __device__ static void back(const T *keep, const T *more, const T *before, T *d,
                                                   T *slopes, T *into) {
        T r = keep[0], z = keep[1], n = keep[2], q = keep[3], one = 1, all = d[0] + more[4];
        into[2] = (all * (one - z) + more[2]) * (one - n * n);
        slopes[0] = into[0] = (into[2] * q + more[0]) * ((one - r) * r);
        slopes[1] = into[1] = (all * (before[0] - n) + more[1]) * ((one - z) * z);
        slopes[2] = into[2] * r + more[3];
        d[0] = all * z;
    }
};

template <class Bend> struct Elman {
    static const int states = 1, gates = 1, kept = 1;
    template <class T> __device__ static void next(const T *x, const T *sums, T *state, T *keep) {
        keep[0] = state[0] = Bend::of(sums[0] + x[0]);
    }
    template <class T> __device__ static void made(const T *keep, T *state) { state[0] = keep[0]; }
    template <class T> __device__ static void back(const T *keep, const T *more, const T *before, T *d,
                                                   T *slopes, T *into) {
        slopes[0] = into[0] = Bend::back(keep[0], d[0] + more[0]);
        d[0] = 0;
    }
};
struct Tanh {
    template <class T> __device__ static T of(T x) { return tangent(x); }
    template <class T> __device__ static T back(T y, T d) { return d * ((T)1 - y * y); }
};
struct Relu {
    template <class T> __device__ static T of(T x) { return Larger::of(x, (T)0); }
    template <class T> __device__ static T back(T y, T d) { return y <= 0 ? (T)0 : d; }
};

// The steps as they run: where the rows of each begin, and how many there are. `starts` says so where not
// each has a row for every sample.
struct Course {
    View<const i64> starts;
    i64 steps, batch, turned;
    __device__ i64 place(i64 t) const { return turned ? steps - 1 - t : t; }
    __device__ i64 at(i64 t) const { return starts.given() ? starts[place(t)] : place(t) * batch; }
    __device__ i64 many(i64 t) const {
        return starts.given() ? starts[place(t) + 1] - starts[place(t)] : batch;
    }
};

template <class Cell, class T>
__device__ void run_steps(View<const T> rows, View<const T> first_h, View<const T> first_c,
                          View<const T> weight, View<const T> bias, View<T> out, View<T> last_h,
                          View<T> last_c, View<T> kept, const Course &course, i64 units) {
    const int most = Most<T>::units, gates = Cell::gates;
    SHARED(Few<T>, 2 * Most<T>::units, states);  // of this step, and of the next
    i64 j = threadIdx.x, base = (i64)blockIdx.x * SAMPLES;
    bool mine = j < units;
    int now = 0;
    T state[SAMPLES][2], own[gates];
    Few<T> few;
    if (mine) {
        for (int g = 0; g < gates; g++) own[g] = bias.given() ? bias[g * units + j] : (T)0;
#pragma unroll
        for (int s = 0; s < SAMPLES; s++) {
            bool there = base + s < course.batch;
            few.of[s] = state[s][0] = there ? first_h[(base + s) * units + j] : (T)0;
            state[s][1] = there && Cell::states > 1 ? first_c[(base + s) * units + j] : (T)0;
        }
        states[(int)j] = few;
    }
    __syncthreads();
    for (i64 t = 0; t < course.steps; t++) {
        i64 at = course.at(t) + base, left = course.many(t) - base;
        if (left <= 0) continue;  // for the whole block
        if (mine) {
            T x[SAMPLES][gates], sums[SAMPLES][gates], keep[Cell::kept];
#pragma unroll
            for (int s = 0; s < SAMPLES; s++)
#pragma unroll
                for (int g = 0; g < gates; g++) {
                    x[s][g] = s < left ? rows[((at + s) * gates + g) * units + j] : (T)0;
                    sums[s][g] = own[g];
                }
#pragma unroll(16 / gates)
            for (int k = 0; k < (int)units; k++) {
                few = states[now + k];
#pragma unroll
                for (int g = 0; g < gates; g++) {
                    T w = weight[((i64)k * gates + g) * units + j];
#pragma unroll
                    for (int s = 0; s < SAMPLES; s++) sums[s][g] += few.of[s] * w;
                }
            }
#pragma unroll
            for (int s = 0; s < SAMPLES; s++) {
                if (s < left) {
                    Cell::next(x[s], sums[s], state[s], keep);
                    out[(at + s) * units + j] = state[s][0];
                    if (kept.given())
                        for (int e = 0; e < Cell::kept; e++)
                            kept[((at + s) * Cell::kept + e) * units + j] = keep[e];
                }
                few.of[s] = state[s][0];
            }
            states[(most - now) + (int)j] = few;
        }
        __syncthreads();  // the next states are whole
        now = most - now;
    }
    if (!mine) return;
#pragma unroll
    for (int s = 0; s < SAMPLES; s++)
        if (base + s < course.batch) {
            last_h[(base + s) * units + j] = state[s][0];
            if (Cell::states > 1) last_c[(base + s) * units + j] = state[s][1];
        }
}

// What a layer's gradients are made of, and where they go.
template <class Cell, class T> struct Trail {
    View<const T> of_out, of_kept, kept, first_h, first_c;
    View<T> slopes, inner, before;
    i64 units;

    // Unit j of a row: `sooner` is the row of the step before, or -1 where the sample begins.
    __device__ void back(i64 row, i64 sooner, i64 sample, i64 j, T *d, T *slope) const {
        const int many = Cell::kept, gates = Cell::gates;
        T keep[many], more[many], old[many], past[2], into[gates];
#pragma unroll
        for (int e = 0; e < many; e++) {
            keep[e] = kept[(row * many + e) * units + j];
            more[e] = of_kept.given() ? of_kept[(row * many + e) * units + j] : (T)0;
        }
        if (sooner >= 0) {
#pragma unroll
            for (int e = 0; e < many; e++) old[e] = kept[(sooner * many + e) * units + j];
            Cell::made(old, past);
        } else {
            past[0] = first_h[sample * units + j];
            if (Cell::states > 1) past[1] = first_c[sample * units + j];
        }
        if (of_out.given()) d[0] += of_out[row * units + j];
        Cell::back(keep, more, past, d, slope, into);
#pragma unroll
        for (int g = 0; g < gates; g++) {
            slopes[(row * gates + g) * units + j] = slope[g];
            if (inner.given()) inner[(row * gates + g) * units + j] = into[g];
        }
        if (before.given()) before[row * units + j] = past[0];
    }
};

template <class Cell, class T>
__device__ void retrace_steps(const Trail<Cell, T> &trail, View<const T> of_h, View<const T> of_c,
                             View<const T> weight, View<T> for_h, View<T> for_c, const Course &course) {
    const int most = Most<T>::units, gates = Cell::gates;
    SHARED(Few<T>, 2 * Cell::gates * Most<T>::units, steep);  // of this step, and of the one before it
    i64 units = trail.units, j = threadIdx.x, base = (i64)blockIdx.x * SAMPLES;
    bool mine = j < units;
    int now = 0;
    T d[SAMPLES][2];
    if (mine)
#pragma unroll
        for (int s = 0; s < SAMPLES; s++) {
            bool there = base + s < course.batch;
            d[s][0] = there && of_h.given() ? of_h[(base + s) * units + j] : (T)0;
            d[s][1] = there && of_c.given() ? of_c[(base + s) * units + j] : (T)0;
        }
    for (i64 t = course.steps - 1; t >= 0; t--) {
        i64 at = course.at(t) + base, left = course.many(t) - base;
        if (left <= 0) continue;  // for the whole block
        i64 sooner = t ? course.at(t - 1) + base : 0, had = t ? course.many(t - 1) - base : 0;
        if (mine) {
            Few<T> few[gates];
#pragma unroll
            for (int s = 0; s < SAMPLES; s++) {
                T slope[gates];
                for (int g = 0; g < gates; g++) slope[g] = 0;
                if (s < left) trail.back(at + s, s < had ? sooner + s : -1, base + s, j, d[s], slope);
                for (int g = 0; g < gates; g++) few[g].of[s] = slope[g];
            }
            for (int g = 0; g < gates; g++) steep[now + g * most + (int)j] = few[g];
        }
        __syncthreads();  // the slopes are whole
        if (mine) {
            T sums[SAMPLES];
            for (int s = 0; s < SAMPLES; s++) sums[s] = 0;
#pragma unroll(16 / gates)
            for (int k = 0; k < (int)units; k++)
#pragma unroll
                for (int g = 0; g < gates; g++) {
                    Few<T> few = steep[now + g * most + k];
                    T w = weight[(g * units + k) * units + j];
#pragma unroll
                    for (int s = 0; s < SAMPLES; s++) sums[s] += few.of[s] * w;
                }
#pragma unroll
            for (int s = 0; s < SAMPLES; s++)
                if (s < left) d[s][0] += sums[s];
        }
        now = gates * most - now;
    }
    if (!mine) return;
#pragma unroll
    for (int s = 0; s < SAMPLES; s++)
        if (base + s < course.batch) {
            if (for_h.given()) for_h[(base + s) * units + j] = d[s][0];
            if (for_c.given()) for_c[(base + s) * units + j] = d[s][1];
        }
}

// One step of a wider layer, after the product of its states and the weight: `many` rows from the first of
// the samples on.
template <class Cell, class T>
__device__ void run_step(View<const T> rows, View<const T> products, View<const T> bias, View<T> h, View<T> c,
                         View<T> out, View<T> kept, i64 at, i64 many, i64 units) {
    const int gates = Cell::gates;
    for (i64 i = first(); i < many * units; i += stride()) {
        i64 sample = i / units, j = i % units, row = at + sample;
        T x[gates], sums[gates], state[2], keep[Cell::kept];
#pragma unroll
        for (int g = 0; g < gates; g++) {
            x[g] = rows[(row * gates + g) * units + j];
            sums[g] = products[(sample * gates + g) * units + j];
            if (bias.given()) sums[g] += bias[g * units + j];
        }
        state[0] = h[i];
        if (Cell::states > 1) state[1] = c[i];
        Cell::next(x, sums, state, keep);
        out[row * units + j] = h[i] = state[0];
        if (Cell::states > 1) c[i] = state[1];
        if (kept.given())
            for (int e = 0; e < Cell::kept; e++) kept[(row * Cell::kept + e) * units + j] = keep[e];
    }
}

// One step of a wider layer's gradients, before the product of its slopes and the weight. Where that of the
// step after it is not in `of_h`, it is in `products`. The step before it has rows of `had` samples, from
// `sooner` on.
template <class Cell, class T>
__device__ void retrace_step(const Trail<Cell, T> &trail, View<const T> products, View<T> of_h, View<T> of_c,
                            i64 at, i64 many, i64 sooner, i64 had) {
    i64 units = trail.units;
    for (i64 i = first(); i < many * units; i += stride()) {
        i64 sample = i / units;
        T d[2], slope[Cell::gates];
        d[0] = products.given() ? of_h[i] + products[i] : of_h[i];
        d[1] = Cell::states > 1 ? of_c[i] : (T)0;
        trail.back(at + sample, sample < had ? sooner + sample : -1, sample, i % units, d, slope);
        of_h[i] = d[0];
        if (Cell::states > 1) of_c[i] = d[1];
    }
}

#define TRAIL(Cell) \
    Trail<Cell, T> { of_out, of_kept, kept, first_h, first_c, slopes, inner, before, units }
#define LAYER(name, Cell)                                                                                 \
    template <class T>                                                                                    \
    KERNEL name##_layer(View<const T> rows, View<const T> first_h, View<const T> first_c,                 \
                        View<const T> weight, View<const T> bias, View<T> out, View<T> last_h,            \
                        View<T> last_c, View<T> kept, View<const i64> starts, i64 steps, i64 batch,       \
                        i64 turned, i64 units) {                                                          \
        run_steps<Cell, T>(rows, first_h, first_c, weight, bias, out, last_h, last_c, kept,               \
                           Course{starts, steps, batch, turned}, units);                                  \
    }                                                                                                     \
    template <class T>                                                                                    \
    KERNEL name##_layer_back(View<const T> of_out, View<const T> of_kept, View<const T> kept,             \
                             View<const T> first_h, View<const T> first_c, View<T> slopes,                \
                             View<T> inner, View<T> before, i64 units, View<const T> of_h,                \
                             View<const T> of_c, View<const T> weight, View<T> for_h, View<T> for_c,      \
                             View<const i64> starts, i64 steps, i64 batch, i64 turned) {                  \
        retrace_steps<Cell, T>(TRAIL(Cell), of_h, of_c, weight, for_h, for_c,                             \
                               Course{starts, steps, batch, turned});                                     \
    }                                                                                                     \
    template <class T>                                                                                    \
    KERNEL name##_step(View<const T> rows, View<const T> products, View<const T> bias, View<T> h,         \
                       View<T> c, View<T> out, View<T> kept, i64 at, i64 many, i64 units) {               \
        run_step<Cell, T>(rows, products, bias, h, c, out, kept, at, many, units);                        \
    }                                                                                                     \
    template <class T>                                                                                    \
    KERNEL name##_step_back(View<const T> of_out, View<const T> of_kept, View<const T> kept,              \
                            View<const T> first_h, View<const T> first_c, View<T> slopes,                 \
                            View<T> inner, View<T> before, i64 units, View<const T> products,             \
                            View<T> of_h, View<T> of_c, i64 at, i64 many, i64 sooner, i64 had) {          \
        retrace_step<Cell, T>(TRAIL(Cell), products, of_h, of_c, at, many, sooner, had);                  \
    }
LAYER(lstm, Lstm)
LAYER(gru, Gru)
LAYER(rnn_tanh, Elman<Tanh>)
LAYER(rnn_relu, Elman<Relu>)
