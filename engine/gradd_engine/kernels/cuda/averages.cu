// Means over windows of planes [depth, height, width], and their gradients: a thread an element.

// Windows along an axis. Without a kernel they are `places` parts, as equal as can be, that may overlap.
struct Along {
    i64 size, places, kernel, stride, padding;
};
struct Means {
    Along axes[3];
    i64 divisor, padded;  // what sums are divided by; 0 for the cells: also those of the padding, or not
};

// Cells, or windows, from `begin` to `end`; how many cells count.
struct Span {
    int begin, end, count;
};

// The cells of a window.
__device__ inline Span window(const Along &a, int place, bool padded) {
    int size = (int)a.size, kernel = (int)a.kernel, padding = (int)a.padding;
    if (kernel == 0) {
        i64 from = place * a.size;
        int begin = (int)(from / a.places), end = (int)((from + a.size - 1) / a.places) + 1;
        return Span{begin, end, end - begin};
    }
    int begin = place * (int)a.stride - padding, end = begin + kernel;
    if (end > size + padding) end = size + padding;
    int whole = end - begin;
    if (begin < 0) begin = 0;
    if (end > size) end = size;
    return Span{begin, end, padded ? whole : end - begin};
}

// The windows of a cell.
__device__ inline Span windows(const Along &a, int cell) {
    if (a.kernel == 0) {
        i64 from = cell * a.places;
        return Span{(int)(from / a.size), (int)((from + a.places - 1) / a.size) + 1, 0};
    }
    int last = cell + (int)a.padding, first = last - (int)a.kernel + 1, stride = (int)a.stride;
    int begin = first > 0 ? (first + stride - 1) / stride : 0, end = last / stride + 1;
    return Span{begin, end < a.places ? end : (int)a.places, 0};
}

template <class T> KERNEL average(View<const T> a, View<T> out, Means to, i64 planes) {
    typedef typename Wide<T>::type A;
    u32 height = (u32)to.axes[1].places, width = (u32)to.axes[2].places;
    Spot s = spot_of(to.axes[0].places * height * width);
    if (s.plane >= planes) return;
    bool padded = to.padded != 0;
    Span d = window(to.axes[0], (int)(s.place / width / height), padded),
         h = window(to.axes[1], (int)(s.place / width % height), padded),
         w = window(to.axes[2], (int)(s.place % width), padded);
    A total = 0;
    for (int z = d.begin; z < d.end; z++)
        for (int y = h.begin; y < h.end; y++) {
            i64 row = ((s.plane * to.axes[0].size + z) * to.axes[1].size + y) * to.axes[2].size;
            for (int x = w.begin; x < w.end; x++) total += wide(a[row + x]);
        }
    out[first()] = narrow<T>(total / (to.divisor ? (A)to.divisor : (A)((i64)d.count * h.count * w.count)));
}

template <class T> KERNEL average_backward(View<const T> g, View<T> out, Means to, i64 planes) {
    typedef typename Wide<T>::type A;
    u32 height = (u32)to.axes[1].size, width = (u32)to.axes[2].size;
    Spot s = spot_of(to.axes[0].size * height * width);
    if (s.plane >= planes) return;
    bool padded = to.padded != 0;
    Span d = windows(to.axes[0], (int)(s.place / width / height)),
         h = windows(to.axes[1], (int)(s.place / width % height)),
         w = windows(to.axes[2], (int)(s.place % width));
    A total = 0;
    for (int z = d.begin; z < d.end; z++)
        for (int y = h.begin; y < h.end; y++) {
            i64 row = ((s.plane * to.axes[0].places + z) * to.axes[1].places + y) * to.axes[2].places,
                count = (i64)window(to.axes[0], z, padded).count * window(to.axes[1], y, padded).count;
            for (int x = w.begin; x < w.end; x++)
                total += wide(g[row + x]) /
                         (to.divisor ? (A)to.divisor : (A)(count * window(to.axes[2], x, padded).count));
        }
    out[first()] = narrow<T>(total);
}
