// Running results along the middle dimension of an array [outer, n, inner]: a block a row, a piece of it at a
// time, each piece by the steps of Hillis and Steele, "Data parallel algorithms" (1986).
#define PIECE 256

// The larger, or smaller, number seen so far and its place: the last of ties, and the last nan.
template <class A> struct Seen {
    A value;
    i64 place;
};
struct Rising {
    template <class A> __device__ static bool takes(A later, A sooner) { return later >= sooner; }
};
struct Falling {
    template <class A> __device__ static bool takes(A later, A sooner) { return later <= sooner; }
};
template <class Order, class A> __device__ inline Seen<A> joined(Seen<A> sooner, Seen<A> later) {
    if (later.place < 0) return sooner;
    if (sooner.place < 0) return later;
    return later.value != later.value || Order::takes(later.value, sooner.value) ? later : sooner;
}

template <class Order, class T>
__device__ void run_extreme(View<const T> a, View<T> values, View<i64> places, i64 rows, i64 n, i64 inner) {
    typedef typename Wide<T>::type A;
    SHARED(A, PIECE, held);
    SHARED(i64, PIECE, where);
    int t = threadIdx.x, last = blockDim.x - 1;
    for (i64 r = blockIdx.x; r < rows; r += gridDim.x) {
        i64 at = r / inner * n * inner + r % inner;
        Seen<A> before = {0, -1};
        for (i64 from = 0; from < n; from += blockDim.x) {
            i64 j = from + t;
            Seen<A> x = {0, -1};
            if (j < n) x = Seen<A>{wide(a[at + j * inner]), j};
            for (int d = 1; d <= last; d *= 2) {
                held[t] = x.value;
                where[t] = x.place;
                __syncthreads();
                Seen<A> sooner = {0, -1};
                if (t >= d) sooner = Seen<A>{held[t - d], where[t - d]};
                __syncthreads();
                x = joined<Order>(sooner, x);
            }
            x = joined<Order>(before, x);
            if (j < n) {
                values[at + j * inner] = narrow<T>(x.value);
                places[at + j * inner] = x.place;
            }
            if (t == last) {
                held[t] = x.value;
                where[t] = x.place;
            }
            __syncthreads();
            before = Seen<A>{held[last], where[last]};
            __syncthreads();
        }
    }
}
template <class T>
KERNEL cummax(View<const T> a, View<T> values, View<i64> places, i64 rows, i64 n, i64 inner) {
    run_extreme<Rising, T>(a, values, places, rows, n, inner);
}
template <class T>
KERNEL cummin(View<const T> a, View<T> values, View<i64> places, i64 rows, i64 n, i64 inner) {
    run_extreme<Falling, T>(a, values, places, rows, n, inner);
}

// log(exp(x) + exp(y)).
template <class A> __device__ inline A log_add(A x, A y) {
    if (x == y) return x + (A)0.6931471805599453;
    A top = x > y ? x : y, low = x > y ? y : x;
    return x != x || y != y ? x + y : top + more_log(expo(low - top));
}

template <class T> KERNEL logcumsumexp(View<const T> a, View<T> out, i64 rows, i64 n, i64 inner) {
    typedef typename Wide<T>::type A;
    SHARED(A, PIECE, held);
    int t = threadIdx.x, last = blockDim.x - 1;
    for (i64 r = blockIdx.x; r < rows; r += gridDim.x) {
        i64 at = r / inner * n * inner + r % inner;
        A before = -endless<A>();
        for (i64 from = 0; from < n; from += blockDim.x) {
            i64 j = from + t;
            A x = j < n ? wide(a[at + j * inner]) : -endless<A>();
            for (int d = 1; d <= last; d *= 2) {
                held[t] = x;
                __syncthreads();
                A sooner = t >= d ? held[t - d] : -endless<A>();
                __syncthreads();
                x = log_add(sooner, x);
            }
            x = log_add(before, x);
            if (j < n) out[at + j * inner] = narrow<T>(x);
            if (t == last) held[t] = x;
            __syncthreads();
            before = held[last];
            __syncthreads();
        }
    }
}
