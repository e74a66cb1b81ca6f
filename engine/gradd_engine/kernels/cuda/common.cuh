// What every kernel's source begins with: types, checked views, loads and stores, sums over a block, Philox.
//
// The same text is compiled by NVRTC for a device and, after tests/cuda/shim.h, by a C++ compiler for the
// host. There a View knows where its array ends, threads are fibres, and a barrier that not all reach is an
// error. Scalars are passed as i64 or double, as CuPy passes Python's numbers.

typedef long long i64;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned short u16;
typedef unsigned char u8;

#ifndef GRADD_SHIM
// An array: on a device no more than its address.
template <class T> struct View {
    T *at;
    __device__ T &operator[](i64 i) const { return at[i]; }
    __device__ bool given() const { return at != nullptr; }
};
template <class T> __device__ inline View<T> view_of(void *at, i64) { return View<T>{(T *)at}; }
// Memory that the threads of a block share.
template <class T, int N> struct Cells {
    T of[N];
    __device__ T &operator[](int i) { return of[i]; }
};
#define SHARED(T, N, name) __shared__ Cells<T, N> name
#define KERNEL __global__ void
#endif

// 16-bit numbers, as their bits: no header of the toolkit is needed where this is compiled.
struct Half {
    u16 bits;
};
struct BFloat {
    u16 bits;
};

#ifndef GRADD_SHIM
__device__ inline float wide(Half x) {
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return y;
}
__device__ inline u16 half_bits(float x) {
    u16 y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
    return y;
}
__device__ inline u32 float_bits(float x) { return __float_as_uint(x); }
__device__ inline float bits_float(u32 x) { return __uint_as_float(x); }
#else
inline float wide(Half x) { return shim::half_to_float(x.bits); }
inline u16 half_bits(float x) { return shim::float_to_half(x); }
inline u32 float_bits(float x) {
    u32 y;
    memcpy(&y, &x, 4);
    return y;
}
inline float bits_float(u32 x) {
    float y;
    memcpy(&y, &x, 4);
    return y;
}
#endif

// The type that a kernel computes in, and the way there and back: 16 bits are rounded once, to even.
__device__ inline float wide(float x) { return x; }
__device__ inline double wide(double x) { return x; }
__device__ inline float wide(BFloat x) { return bits_float((u32)x.bits << 16); }

template <class T> struct Wide {
    typedef T type;
};
template <> struct Wide<Half> {
    typedef float type;
};
template <> struct Wide<BFloat> {
    typedef float type;
};

template <class T> struct Narrow {
    __device__ static T from(typename Wide<T>::type x) { return x; }
};
template <> struct Narrow<Half> {
    __device__ static Half from(float x) { return Half{half_bits(x)}; }
};
template <> struct Narrow<BFloat> {
    __device__ static BFloat from(float x) {
        u32 b = float_bits(x);
        if (x != x) return BFloat{(u16)((b >> 16) | 0x40)};
        return BFloat{(u16)((b + 0x7FFF + ((b >> 16) & 1)) >> 16)};
    }
};
template <class T> __device__ inline T narrow(typename Wide<T>::type x) { return Narrow<T>::from(x); }

// Functions by type, since the ones with an f at the end are others.
__device__ inline float root(float x) { return sqrtf(x); }
__device__ inline double root(double x) { return sqrt(x); }
__device__ inline float expo(float x) { return expf(x); }
__device__ inline double expo(double x) { return exp(x); }
__device__ inline float logn(float x) { return logf(x); }
__device__ inline double logn(double x) { return log(x); }
__device__ inline float cosine(float x) { return cosf(x); }
__device__ inline double cosine(double x) { return cos(x); }
__device__ inline float tangent(float x) { return tanhf(x); }
__device__ inline double tangent(double x) { return tanh(x); }
__device__ inline float errors(float x) { return erff(x); }
__device__ inline double errors(double x) { return erf(x); }
__device__ inline float more_log(float x) { return log1pf(x); }
__device__ inline double more_log(double x) { return log1p(x); }
__device__ inline float less_exp(float x) { return expm1f(x); }
__device__ inline double less_exp(double x) { return expm1(x); }
template <class A> __device__ inline A endless() { return (A)bits_float(0x7F800000u); }
template <class A> __device__ inline bool unbounded(A x) { return x == endless<A>() || x == -endless<A>(); }

// A thread's elements of n: `for (i64 i = first(); i < n; i += stride())`.
__device__ inline i64 first() { return (i64)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ inline i64 stride() { return (i64)gridDim.x * blockDim.x; }

// A thread's element among planes of `whole` elements, where each has one thread. Divisions of 64 bits are
// dear: this makes one that all threads of a block share.
struct Spot {
    i64 plane;
    u32 place;
};
__device__ inline Spot spot_of(i64 whole) {
    i64 from = (i64)blockIdx.x * blockDim.x, plane = from / whole;
    u32 at = (u32)(from - plane * whole) + threadIdx.x;
    return Spot{plane + at / (u32)whole, at % (u32)whole};
}

struct Add {
    template <class A> __device__ static A of(A x, A y) { return x + y; }
};
// The larger; nan if either is.
struct Larger {
    template <class A> __device__ static A of(A x, A y) { return x > y || x != x ? x : y; }
};

// All threads' values as one, in the same order in every run; every thread gets it. `none` changes nothing.
// A block has whole warps and at most 32 of them.
template <class Op, class A> __device__ A over_block(A x, A none) {
    SHARED(A, 33, cells);
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    for (int d = 16; d; d >>= 1) x = Op::of(x, __shfl_down_sync(0xFFFFFFFFu, x, d));
    __syncthreads();  // the last call's result has been read
    if (lane == 0) cells[warp] = x;
    __syncthreads();
    if (warp == 0) {
        x = lane < warps ? cells[lane] : none;
        for (int d = 16; d; d >>= 1) x = Op::of(x, __shfl_down_sync(0xFFFFFFFFu, x, d));
        if (lane == 0) cells[32] = x;
    }
    __syncthreads();
    return cells[32];
}
template <class A> __device__ inline A block_sum(A x) { return over_block<Add>(x, (A)0); }
template <class A> __device__ inline A block_largest(A x) { return over_block<Larger>(x, -endless<A>()); }

// The mean of the n numbers from `row` on, and the reciprocal of their standard deviation.
template <class T, class A>
__device__ inline void moments(View<const T> a, i64 row, i64 n, double eps, A &mean, A &rstd) {
    A total = 0, spread = 0;
    for (i64 j = threadIdx.x; j < n; j += blockDim.x) total += wide(a[row + j]);
    mean = block_sum(total) / (A)n;
    for (i64 j = threadIdx.x; j < n; j += blockDim.x) {
        A away = wide(a[row + j]) - mean;
        spread += away * away;
    }
    rstd = (A)1 / root(block_sum(spread) / (A)n + (A)eps);
}

// Four random numbers of block `block` of a random step, as `rng.bits` makes them.
// Philox4x32-10 of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
struct Four {
    u32 of[4];
};
// A random step: by value, or in memory, where a graph that was captured finds another one each time.
struct Key {
    u64 seed, step;
};
__device__ inline Key key_of(View<const i64> keys, i64 which, i64 seed, i64 step) {
    if (!keys.given()) return Key{(u64)seed, (u64)step};
    return Key{(u64)keys[2 * which], (u64)keys[2 * which + 1]};
}
__device__ inline Four philox(u64 block, Key key) {
    u64 seed = key.seed, step = key.step;
    u32 c0 = (u32)block, c1 = (u32)(block >> 32), c2 = (u32)step, c3 = (u32)(step >> 32);
    u32 k0 = (u32)seed, k1 = (u32)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        u64 p0 = (u64)c0 * 0xD2511F53u, p1 = (u64)c2 * 0xCD9E8D57u;
        c0 = (u32)(p1 >> 32) ^ c1 ^ k0;
        c1 = (u32)p1;
        c2 = (u32)(p0 >> 32) ^ c3 ^ k1;
        c3 = (u32)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return Four{{c0, c1, c2, c3}};
}
