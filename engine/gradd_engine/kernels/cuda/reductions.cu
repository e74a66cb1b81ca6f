// Sums, products, extremes and truth over dimensions of an array, in an order that its sizes alone decide.

// Where results come from: result k begins at k / across * far + k % across * near, and its element j lies
// j / within * leap + j % within * step beyond. A block has `width` results side by side, `height` threads on
// each, and as many such groups as it has threads for; blockIdx.y counts shares of `most` elements.
struct Reduced {
    i64 results, across, far, near;
    i64 n, within, leap, step;
    i64 width, height, most;
    __device__ i64 begin(i64 k) const {
        return across == results ? k * near : k / across * far + k % across * near;
    }
    __device__ i64 place(i64 j) const {
        return within == n ? j * step : j / within * leap + j % within * step;
    }
};

__device__ inline i64 wide(i64 x) { return x; }
__device__ inline int wide(int x) { return x; }
__device__ inline int wide(short x) { return x; }
__device__ inline int wide(signed char x) { return x; }
__device__ inline int wide(u8 x) { return x; }

// Each has a type to compute in, what it makes of an element, what it begins with, and how two become one.
struct Total {
    template <class T> using Of = typename Wide<T>::type;
    template <class T> __device__ static Of<T> load(T x) { return wide(x); }
    template <class A> __device__ static A none(A) { return (A)0; }
    template <class A> __device__ static A of(A x, A y) { return x + y; }
};
struct Product : Total {
    template <class A> __device__ static A none(A) { return (A)1; }
    template <class A> __device__ static A of(A x, A y) { return x * y; }
};
// Extremes begin with the first element, which they may take twice; nan if any is.
struct Largest : Total {
    template <class A> __device__ static A none(A x) { return x; }
    template <class A> __device__ static A of(A x, A y) { return Larger::of(x, y); }
};
struct Smallest : Largest {
    template <class A> __device__ static A of(A x, A y) { return x < y || x != x ? x : y; }
};
struct Nonzeros : Total {
    template <class T> using Of = i64;
    template <class T> __device__ static i64 load(T x) { return wide(x) != 0; }
};
struct Anything {
    template <class T> using Of = u8;
    template <class T> __device__ static u8 load(T x) { return wide(x) != 0; }
    template <class A> __device__ static A none(A) { return 0; }
    template <class A> __device__ static A of(A x, A y) { return x | y; }
};
struct Everything : Anything {
    template <class A> __device__ static A none(A) { return 1; }
    template <class A> __device__ static A of(A x, A y) { return x & y; }
};

template <class R, class A> __device__ inline R stored(A x) { return narrow<R>((typename Wide<R>::type)x); }

template <class Op, class T, class R>
__device__ void reduce(View<const T> a, View<R> out, const Reduced &s, double divisor) {
    typedef typename Op::template Of<T> A;
    SHARED(A, 1024, cells);
    int t = threadIdx.x, width = (int)s.width, height = (int)s.height, y = t / width % height;
    i64 many = blockDim.x / height, from = blockIdx.y * s.most;
    i64 end = from + s.most < s.n ? from + s.most : s.n;
    for (i64 first = blockIdx.x * many; first < s.results; first += gridDim.x * many) {
        i64 k = first + t / (width * height) * width + t % width;
        A total = Op::none((A)0);
        if (k < s.results) {
            i64 at = s.begin(k);
            total = Op::none(Op::load(a[at]));
            for (i64 j = from + y; j < end; j += height) total = Op::of(total, Op::load(a[at + s.place(j)]));
        }
        cells[t] = total;
        for (int h = height / 2; h; h /= 2) {
            __syncthreads();
            if (y < h) cells[t] = total = Op::of(total, cells[t + h * width]);
        }
        if (y == 0 && k < s.results)
            out[blockIdx.y * s.results + k] = stored<R>(divisor == 1 ? total : (A)(total / (A)divisor));
        __syncthreads();  // the next results use the same cells
    }
}

template <class T, class R> KERNEL sums(View<const T> a, View<R> out, Reduced s, double divisor) {
    reduce<Total>(a, out, s, divisor);
}
template <class T, class R> KERNEL products(View<const T> a, View<R> out, Reduced s) {
    reduce<Product>(a, out, s, 1);
}
template <class T, class R> KERNEL largest(View<const T> a, View<R> out, Reduced s) {
    reduce<Largest>(a, out, s, 1);
}
template <class T, class R> KERNEL smallest(View<const T> a, View<R> out, Reduced s) {
    reduce<Smallest>(a, out, s, 1);
}
template <class T, class R> KERNEL nonzeros(View<const T> a, View<R> out, Reduced s) {
    reduce<Nonzeros>(a, out, s, 1);
}
template <class T, class R> KERNEL anything(View<const T> a, View<R> out, Reduced s) {
    reduce<Anything>(a, out, s, 1);
}
template <class T, class R> KERNEL everything(View<const T> a, View<R> out, Reduced s) {
    reduce<Everything>(a, out, s, 1);
}

// Whether a number at `there` comes before one at `here`: by its size, then by its place; nan before all.
struct Most {
    template <class A> __device__ static bool beats(A x, A y) { return x > y || (x != x && y == y); }
};
struct Least {
    template <class A> __device__ static bool beats(A x, A y) { return x < y || (x != x && y == y); }
};
template <class Order, class T>
__device__ inline void meet(T &value, i64 &place, T other, i64 there) {
    if (Order::beats(wide(other), wide(value)) ||
        (there < place && !Order::beats(wide(value), wide(other)))) {
        value = other;
        place = there;
    }
}

// The extreme and its place, the first of ties; `places`, if given, says where what `a` has comes from.
template <class Order, class T>
__device__ void find(View<const T> a, View<const i64> places, View<T> values, View<i64> out,
                     const Reduced &s) {
    SHARED(T, 1024, cells);
    SHARED(i64, 1024, where);
    int t = threadIdx.x, width = (int)s.width, height = (int)s.height, y = t / width % height;
    i64 many = blockDim.x / height, from = blockIdx.y * s.most;
    i64 end = from + s.most < s.n ? from + s.most : s.n;
    for (i64 first = blockIdx.x * many; first < s.results; first += gridDim.x * many) {
        i64 k = first + t / (width * height) * width + t % width, place = 0;
        T value = T();
        if (k < s.results) {
            i64 at = s.begin(k), start = at + s.place(from);
            value = a[start];
            place = places.given() ? places[start] : from;
            for (i64 j = from + y; j < end; j += height) {
                i64 p = at + s.place(j);
                meet<Order>(value, place, a[p], places.given() ? places[p] : j);
            }
        }
        cells[t] = value;
        where[t] = place;
        for (int h = height / 2; h; h /= 2) {
            __syncthreads();
            if (y >= h) continue;
            meet<Order>(value, place, cells[t + h * width], where[t + h * width]);
            cells[t] = value;
            where[t] = place;
        }
        if (y == 0 && k < s.results) {
            if (values.given()) values[blockIdx.y * s.results + k] = value;
            out[blockIdx.y * s.results + k] = place;
        }
        __syncthreads();  // the next results use the same cells
    }
}
template <class T>
KERNEL largest_at(View<const T> a, View<const i64> places, View<T> values, View<i64> out, Reduced s) {
    find<Most>(a, places, values, out, s);
}
template <class T>
KERNEL smallest_at(View<const T> a, View<const i64> places, View<T> values, View<i64> out, Reduced s) {
    find<Least>(a, places, values, out, s);
}
