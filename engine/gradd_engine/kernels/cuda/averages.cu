// Means over windows of planes [depth, height, width], and their gradients: a thread an element.

// Windows along an axis. Without a kernel they cut it in `places` parts, as equal as can be, that may overlap.
struct Along {
    i64 size, places, kernel, stride, padding;
};
struct Means {
    Along axes[3];
    i64 divisor, padded;  // 0 divides by the cells that are counted; whether those of the padding are
};

// A window's cells inside, and how many are counted.
struct Span {
    i64 begin, end, count;
};
__device__ inline Span window(const Along &a, i64 place, i64 padded) {
    if (a.kernel == 0) {
        i64 begin = place * a.size / a.places, end = ((place + 1) * a.size + a.places - 1) / a.places;
        return Span{begin, end, end - begin};
    }
    i64 begin = place * a.stride - a.padding, end = begin + a.kernel;
    if (end > a.size + a.padding) end = a.size + a.padding;
    i64 count = end - begin;
    if (begin < 0) begin = 0;
    if (end > a.size) end = a.size;
    return Span{begin, end, padded ? count : end - begin};
}

// The windows that a cell is in.
__device__ inline Span windows(const Along &a, i64 cell) {
    i64 begin, end;
    if (a.kernel == 0) {
        begin = cell * a.places / a.size;
        end = ((cell + 1) * a.places + a.size - 1) / a.size;
    } else {
        i64 last = cell + a.padding, first = last - a.kernel + 1;
        begin = first > 0 ? (first + a.stride - 1) / a.stride : 0;
        end = last / a.stride + 1;
    }
    return Span{begin, end < a.places ? end : a.places, 0};
}

template <class T> KERNEL average(View<const T> a, View<T> out, Means to, i64 planes) {
    typedef typename Wide<T>::type A;
    u32 height = (u32)to.axes[1].places, width = (u32)to.axes[2].places;
    Spot s = spot_of(to.axes[0].places * height * width);
    if (s.plane >= planes) return;
    Span d = window(to.axes[0], s.place / width / height, to.padded),
         h = window(to.axes[1], s.place / width % height, to.padded),
         w = window(to.axes[2], s.place % width, to.padded);
    A total = 0;
    for (i64 z = d.begin; z < d.end; z++)
        for (i64 y = h.begin; y < h.end; y++) {
            i64 row = ((s.plane * to.axes[0].size + z) * to.axes[1].size + y) * to.axes[2].size;
            for (i64 x = w.begin; x < w.end; x++) total += wide(a[row + x]);
        }
    A by = to.divisor ? (A)to.divisor : (A)(d.count * h.count * w.count);
    out[first()] = narrow<T>(total / by);
}

template <class T> KERNEL average_backward(View<const T> g, View<T> out, Means to, i64 planes) {
    typedef typename Wide<T>::type A;
    u32 height = (u32)to.axes[1].size, width = (u32)to.axes[2].size;
    Spot s = spot_of(to.axes[0].size * height * width);
    if (s.plane >= planes) return;
    Span d = windows(to.axes[0], s.place / width / height), h = windows(to.axes[1], s.place / width % height),
         w = windows(to.axes[2], s.place % width);
    A total = 0;
    for (i64 z = d.begin; z < d.end; z++)
        for (i64 y = h.begin; y < h.end; y++) {
            i64 row = ((s.plane * to.axes[0].places + z) * to.axes[1].places + y) * to.axes[2].places,
                counted = to.divisor ? 0
                                     : window(to.axes[0], z, to.padded).count *
                                           window(to.axes[1], y, to.padded).count;
            for (i64 x = w.begin; x < w.end; x++) {
                i64 by = to.divisor ? to.divisor : counted * window(to.axes[2], x, to.padded).count;
                total += wide(g[row + x]) / (A)by;
            }
        }
    out[first()] = narrow<T>(total);
}
