// CUDA C++ as host code: threads of a block are fibres that switch at barriers, and views know their bounds.
//
// A block's threads run in turn, each until it waits: for its block (__syncthreads) or its warp (shuffles).
// The turn is by number, or backwards where `backwards` is set: what differs then lacks a barrier. Shared
// memory is filled with nan before each block. A barrier that some threads of the block never reach is an
// error, as is an index outside of an array.
#define GRADD_SHIM 1
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include <atomic>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

struct dim3 {
    unsigned x, y, z;
};
static dim3 gridDim, blockDim, blockIdx, threadIdx;
#define __device__
#define __global__
#define __forceinline__
#define KERNEL static void

namespace shim {
enum State { READY, AT_BLOCK, AT_WARP, DONE };
struct Fibre {
    ucontext_t context;
    State state;
    unsigned shuffles;
};
struct Slot {
    unsigned char bytes[2][16];
};
static const unsigned STACK = 64 << 10;
static ucontext_t home;
static std::vector<Fibre> fibres;
static std::vector<Slot> slots;
static std::vector<char> stacks;
static unsigned current;
static bool backwards;
static std::string failure;
struct Region {
    void *at;
    size_t bytes;
};
static std::vector<Region> regions;
static void (*body)(void *);
static void *given;

inline std::string where() {
    return " in block " + std::to_string(blockIdx.x) + "," + std::to_string(blockIdx.y) + " thread " +
           std::to_string(threadIdx.x);
}
inline void outside(const char *what, long long i, long long count) {
    throw std::out_of_range(std::string(what) + " [" + std::to_string(i) + "] of " + std::to_string(count) +
                            where());
}
inline void wait(State state) {
    unsigned me = current;
    fibres[me].state = state;
    swapcontext(&fibres[me].context, &home);
}
static void enter() {
    try {
        body(given);
    } catch (const std::exception &e) {
        if (failure.empty()) failure = e.what();
    }
    fibres[current].state = DONE;
    swapcontext(&fibres[current].context, &home);
}
inline void start(unsigned threads) {
    if (fibres.size() < threads) {
        fibres.resize(threads);
        slots.resize(threads);
        stacks.resize((size_t)threads * STACK);
    }
    for (unsigned t = 0; t < threads; t++) {
        Fibre &f = fibres[t];
        getcontext(&f.context);
        f.context.uc_stack.ss_sp = stacks.data() + (size_t)t * STACK;
        f.context.uc_stack.ss_size = STACK;
        f.context.uc_link = nullptr;
        makecontext(&f.context, enter, 0);
        f.state = READY;
        f.shuffles = 0;
    }
    for (auto &r : regions) memset(r.at, 0xFF, r.bytes);
}
// Lets go on who waits for a group of which all wait for it; whether anybody does.
inline bool release(unsigned from, unsigned to, State state) {
    for (unsigned t = from; t < to; t++)
        if (fibres[t].state != state) return false;
    for (unsigned t = from; t < to; t++) fibres[t].state = READY;
    return true;
}
inline void block(unsigned threads) {
    start(threads);
    while (failure.empty()) {
        bool ran = false, left = false;
        for (unsigned k = 0; k < threads; k++) {
            unsigned t = backwards ? threads - 1 - k : k;
            if (fibres[t].state != READY) continue;
            current = t;
            threadIdx = {t, 0, 0};
            ran = true;
            swapcontext(&home, &fibres[t].context);
            if (!failure.empty()) return;
        }
        bool freed = release(0, threads, AT_BLOCK);
        if (!freed)
            for (unsigned w = 0; w < threads; w += 32)
                freed |= release(w, w + 32 < threads ? w + 32 : threads, AT_WARP);
        for (unsigned t = 0; t < threads; t++) left |= fibres[t].state != DONE;
        if (!left) return;
        if (!ran && !freed)
            failure = "a barrier that not all threads reach in block " + std::to_string(blockIdx.x);
    }
}
inline void grid(dim3 blocks, dim3 threads, bool turned, void (*fn)(void *), void *arguments) {
    gridDim = blocks;
    blockDim = threads;
    backwards = turned;
    body = fn;
    given = arguments;
    failure.clear();
    for (unsigned z = 0; z < blocks.z; z++)
        for (unsigned y = 0; y < blocks.y; y++)
            for (unsigned x = 0; x < blocks.x && failure.empty(); x++) {
                blockIdx =
                    turned ? dim3{blocks.x - 1 - x, blocks.y - 1 - y, blocks.z - 1 - z} : dim3{x, y, z};
                block(threads.x);
            }
}
inline float half_to_float(unsigned short h) {
    unsigned sign = (unsigned)(h & 0x8000) << 16, e = (h >> 10) & 31, m = h & 0x3FF, b;
    float f;
    if (e == 0) {
        f = ldexpf((float)m, -24);
        return sign ? -f : f;
    }
    b = e == 31 ? sign | 0x7F800000u | m << 13 : sign | (e + 112) << 23 | m << 13;
    memcpy(&f, &b, 4);
    return f;
}
inline unsigned short float_to_half(float f) {
    unsigned b;
    memcpy(&b, &f, 4);
    unsigned short sign = (b >> 16) & 0x8000;
    if (f != f) return sign | 0x7E00;
    float a = fabsf(f);
    if (a >= 65520.0f) return sign | 0x7C00;
    int e;
    frexpf(a, &e);
    if (e < -13 || a == 0) return sign | (unsigned short)nearbyintf(ldexpf(a, 24));
    unsigned m = (unsigned)nearbyintf(ldexpf(a, 11 - e));  // 1024 to 2048
    return sign | (unsigned short)(((e + 14) << 10) + (m - 1024));
}
}  // namespace shim

inline void __syncthreads() { shim::wait(shim::AT_BLOCK); }
inline void __syncwarp() { shim::wait(shim::AT_WARP); }
template <class T> T shuffled(T x, unsigned from) {
    shim::Fibre &f = shim::fibres[shim::current];
    unsigned me = shim::current, half = f.shuffles++ & 1, base = me & ~31u;
    static_assert(sizeof(T) <= 16, "a shuffled value");
    memcpy(shim::slots[me].bytes[half], &x, sizeof(T));
    shim::wait(shim::AT_WARP);
    memcpy(&x, shim::slots[base + from].bytes[half], sizeof(T));
    return x;
}
template <class T> T __shfl_down_sync(unsigned, T x, unsigned d) {
    unsigned lane = threadIdx.x & 31;
    return shuffled(x, lane + d < 32 ? lane + d : lane);
}
template <class T> T __shfl_xor_sync(unsigned, T x, unsigned d) {
    return shuffled(x, (threadIdx.x & 31) ^ d);
}
template <class T> T __shfl_up_sync(unsigned, T x, unsigned d) {
    unsigned lane = threadIdx.x & 31;
    return shuffled(x, lane >= d ? lane - d : lane);
}
template <class T> T __shfl_sync(unsigned, T x, unsigned from) { return shuffled(x, from & 31); }
// Fibres never run at the same time.
template <class T> T atomicAdd(T *at, T x) {
    T old = *at;
    *at = old + x;
    return old;
}
template <class T> T atomicMax(T *at, T x) {
    T old = *at;
    *at = old > x ? old : x;
    return old;
}
template <class T> T atomicCAS(T *at, T expected, T x) {
    T old = *at;
    if (old == expected) *at = x;
    return old;
}

template <class T> struct View {
    T *at;
    long long count;
    T &operator[](long long i) const {
        if (i < 0 || i >= count) shim::outside("an array", i, count);
        return at[i];
    }
    bool given() const { return at != nullptr; }
};
template <class T> View<T> view_of(void *at, long long count) { return View<T>{(T *)at, count}; }
template <class T, int N> struct Cells {
    T of[N];
    Cells() {
        shim::regions.push_back({of, sizeof of});
        memset((void *)of, 0xFF, sizeof of);
    }
    T &operator[](int i) {
        if (i < 0 || i >= N) shim::outside("shared memory", i, N);
        return of[i];
    }
};
#define SHARED(T, N, name) static Cells<T, N> name

// An argument as Python passes it: `kind` is a dtype's character for arrays, # for integers, . for reals,
// 0 for no array, { for a structure by value.
struct Given {
    void *at;
    long long count;
    long long kind;
};
struct Half;
struct BFloat;
namespace shim {
template <class T> struct Kind;
#define KIND(T, c)                \
    template <> struct Kind<T> {  \
        static const char of = c; \
    }
KIND(float, 'f');
KIND(double, 'd');
KIND(Half, 'e');
KIND(BFloat, 'E');
KIND(long long, 'q');
KIND(int, 'i');
KIND(unsigned, 'I');
KIND(unsigned long long, 'Q');
KIND(unsigned char, 'B');
KIND(signed char, 'b');
KIND(short, 'h');
#undef KIND
inline void refuse(int place, const char *wanted, long long kind) {
    throw std::invalid_argument("argument " + std::to_string(place) + " is " + std::string(1, (char)kind) +
                                " where the kernel takes " + wanted);
}
template <class T> struct Take {  // a structure
    static T from(const Given &g, int place) {
        if (g.kind != '{' || g.count != (long long)sizeof(T)) refuse(place, "a structure", g.kind);
        T x;
        memcpy(&x, g.at, sizeof x);
        return x;
    }
};
template <class T> struct Take<View<T>> {
    static View<T> from(const Given &g, int place) {
        char wanted[2] = {Kind<typename std::remove_const<T>::type>::of, 0};
        if (g.kind == '0') return View<T>{nullptr, 0};
        if (g.kind != wanted[0]) refuse(place, wanted, g.kind);
        return View<T>{(T *)g.at, g.count};
    }
};
template <> struct Take<long long> {
    static long long from(const Given &g, int place) {
        if (g.kind != '#') refuse(place, "an integer", g.kind);
        return *(long long *)g.at;
    }
};
template <> struct Take<double> {
    static double from(const Given &g, int place) {
        if (g.kind != '.') refuse(place, "a real", g.kind);
        return *(double *)g.at;
    }
};
template <class... A, size_t... I> std::tuple<A...> taken(const Given *g, std::index_sequence<I...>) {
    return std::tuple<A...>{Take<A>::from(g[I], (int)I)...};
}
template <class... A>
void launch(void (*fn)(A...), const unsigned *size, int turned, const Given *g, int count) {
    if (count != (int)sizeof...(A))
        throw std::invalid_argument(std::to_string(count) + " arguments instead of " +
                                    std::to_string(sizeof...(A)));
    struct Call {
        void (*fn)(A...);
        std::tuple<A...> args;
    } call{fn, taken<A...>(g, std::index_sequence_for<A...>{})};
    grid(
        {size[0], size[1], size[2]}, {size[3], 1, 1}, turned != 0,
        [](void *p) {
            Call *c = (Call *)p;
            std::apply(c->fn, c->args);
        },
        &call);
    if (!failure.empty()) throw std::runtime_error(failure);
}
}  // namespace shim
#define EXPORT(number, ...)                                                                     \
    extern "C" int launch_##number(const unsigned *size, int turned, const Given *g, int count, \
                                   char *said) {                                                \
        try {                                                                                   \
            shim::launch(&__VA_ARGS__, size, turned, g, count);                                 \
            return 0;                                                                           \
        } catch (const std::exception &e) {                                                     \
            strncpy(said, e.what(), 255);                                                       \
            return 1;                                                                           \
        }                                                                                       \
    }
