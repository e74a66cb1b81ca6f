// Convolutions of arrays [images, channels, depth, height, width] and their transposes: products of the
// weight and of the windows of all places, a matrix of which no more than slices is ever made.

// The taps that places with a rest meet, and where the first place meets the first of them.
struct Meeting {
    int first, count, at, step;
};
__device__ inline Meeting meeting(const Axis &a, i64 rest) {
    if (a.divisor == 1) return Meeting{0, (int)a.taps, (int)a.offset, (int)a.dilation};
    i64 at = rest * a.factor + a.offset, tap = 0, most = a.taps < a.every ? a.taps : a.every;
    for (; tap < most && at % a.divisor; tap++) at += a.dilation;
    i64 count = tap < most ? ceiling(a.taps - tap, a.every) : 0;
    return Meeting{(int)tap, (int)count, (int)(at / a.divisor), (int)(a.every * a.dilation / a.divisor)};
}

// The number of one of those taps, by its number along each axis.
__device__ inline int tap_of(const Axis *a, const Meeting *meet, int h, int j, int i) {
    int plane = meet[0].first + h * (int)a[0].every, line = meet[1].first + j * (int)a[1].every;
    return (plane * (int)a[1].taps + line) * (int)a[2].taps + meet[2].first + i * (int)a[2].every;
}

// Reads the weight, and the windows of places: a row is a channel of the result, a column one of its
// places.
template <class T, int ROWS, int COLUMNS, int DEPTH> struct WindowReader {
    typedef typename Wide<T>::type A;
    View<const T> a, weight;
    const Convolution &to;
    Cells<int, 2 * DEPTH> &taps;    // where a sum's weight is; -1 after the last
    Cells<i64, 2 * DEPTH> &moves;   // how far on its cell is
    Cells<int, 6 * DEPTH> &shifts;  // the same along each axis
    Meeting meet[3];
    i64 weights, cell;
    int begin, length, rows, z, y, x, slot;
    bool inside;

    __device__ void prepare(int from, int turn) {
        int at = turn * DEPTH + (int)threadIdx.x;
        if (threadIdx.x >= DEPTH) return;
        taps[at] = -1;
        if (from + (int)threadIdx.x >= length) return;
        u32 left = (u32)(begin + from) + threadIdx.x;
        u32 broad = (u32)meet[2].count, high = (u32)meet[1].count, deep = (u32)meet[0].count;
        int i = (int)(left % broad), j = (int)(left / broad % high), h = (int)(left / broad / high % deep);
        i64 channel = left / broad / high / deep;
        taps[at] = (int)(channel * to.step + tap_of(to.axes, meet, h, j, i));
        int dz = h * meet[0].step, dy = j * meet[1].step, dx = i * meet[2].step;
        moves[at] = channel * cells_of(to.axes) + apart(to.axes, dz, dy, dx);
        shifts[3 * at] = dz;
        shifts[3 * at + 1] = dy;
        shifts[3 * at + 2] = dx;
    }
    __device__ void seek(int, int turn) { slot = turn * DEPTH; }

    // Neighbouring threads read neighbouring weights.
    __device__ int left_depth(int i) const {
        int k = (int)threadIdx.x + i * THREADS;
        return to.row >= to.step ? k % DEPTH : k / ROWS;
    }
    __device__ int left_row(int i) const {
        int k = (int)threadIdx.x + i * THREADS;
        return to.row >= to.step ? k / DEPTH : k % ROWS;
    }
    __device__ int right_depth(int i) const { return (int)threadIdx.x / COLUMNS + i * (THREADS / COLUMNS); }
    __device__ int right_column(int) const { return (int)threadIdx.x % COLUMNS; }

    __device__ A left(int i) const {
        int row = left_row(i), tap = taps[slot + left_depth(i)];
        return row < rows && tap >= 0 ? wide(weight[weights + row * to.row + tap]) : (A)0;
    }
    __device__ A right(int i) const {
        int at = slot + right_depth(i);
        if (!inside || taps[at] < 0) return 0;
        if (!within(to.axes, z + shifts[3 * at], y + shifts[3 * at + 1], x + shifts[3 * at + 2])) return 0;
        return wide(a[cell + moves[at]]);
    }
};

// A tile of a convolution: places of one rest along each axis, and channels of one group. `sums`, if given,
// gets parts that are to be joined.
template <class T, int ROWS, int COLUMNS, int ALONG, int DEPTH>
__device__ inline void convolve_tile(View<const T> a, View<const T> weight, View<const T> bias, View<T> out,
                                     View<typename Wide<T>::type> sums, const Convolution &to) {
    typedef typename Wide<T>::type A;
    SHARED(int, 2 * DEPTH, taps);
    SHARED(i64, 2 * DEPTH, moves);
    SHARED(int, 6 * DEPTH, shifts);
    SHARED(i64, COLUMNS, targets);  // where a column's first row goes; -1 if nowhere
    i64 left = blockIdx.x, high = ceiling(to.each, ROWS), rest[3], across[3];
    i64 part = left % to.parts;
    left /= to.parts;
    i64 begin_row = left % high * ROWS;
    left /= high;
    i64 group = left % to.groups;
    left /= to.groups;
    Tile<A, ROWS, COLUMNS, ALONG, DEPTH> tile;
    WindowReader<T, ROWS, COLUMNS, DEPTH> reader = {a, weight, to, taps, moves, shifts};
#pragma unroll
    for (int d = 2; d >= 0; d--) {
        i64 rests = to.axes[d].divisor < to.axes[d].places ? to.axes[d].divisor : to.axes[d].places;
        rest[d] = left % rests;
        left /= rests;
        across[d] = ceiling(to.axes[d].places, to.axes[d].divisor);
        reader.meet[d] = meeting(to.axes[d], rest[d]);
    }
    i64 width = across[0] * across[1] * across[2], column = left * COLUMNS + threadIdx.x % COLUMNS,
        image = column / width;
    u32 at = (u32)(column - image * width), tx = at % (u32)across[2], line = at / (u32)across[2],
        ty = line % (u32)across[1], tz = line / (u32)across[1];
    i64 qz = rest[0] + tz * to.axes[0].divisor, qy = rest[1] + ty * to.axes[1].divisor,
        qx = rest[2] + tx * to.axes[2].divisor, whole = places_of(to.axes);
    reader.inside = image < to.images && qz < to.axes[0].places && qy < to.axes[1].places &&
                    qx < to.axes[2].places;
    reader.z = reader.meet[0].at + (int)(tz * to.axes[0].factor);
    reader.y = reader.meet[1].at + (int)(ty * to.axes[1].factor);
    reader.x = reader.meet[2].at + (int)(tx * to.axes[2].factor);
    reader.cell = (image * to.groups + group) * to.inner * cells_of(to.axes) +
                  apart(to.axes, reader.z, reader.y, reader.x);
    reader.weights = group * to.inner * to.each * taps_of(to.axes) + begin_row * to.row;
    reader.rows = (int)(to.each - begin_row < ROWS ? to.each - begin_row : ROWS);
    if (threadIdx.x < COLUMNS)
        targets[threadIdx.x] = reader.inside ? ((image * to.groups + group) * to.each + begin_row) * whole +
                                                   (qz * to.axes[1].places + qy) * to.axes[2].places + qx
                                             : -1;
    i64 met = (i64)reader.meet[0].count * reader.meet[1].count * reader.meet[2].count;
    Part some = part_of(to.inner * met, to.parts, part);
    reader.begin = (int)some.begin;
    reader.length = some.length;
    tile.multiply(reader, some.length);
    i64 shift = part * to.images * to.groups * to.each * whole;
#pragma unroll
    for (int r = 0; r < tile.TALL; r++)
#pragma unroll
        for (int c = 0; c < tile.BROAD; c++) {
            int row = tile.row(r);
            i64 target = targets[tile.column(c)];
            if (row >= reader.rows || target < 0) continue;
            A found = tile.sums[r][c];
            if (sums.given())
                sums[shift + target + row * whole] = found;
            else
                out[target + row * whole] = narrow<T>(
                    bias.given() ? found + wide(bias[group * to.each + begin_row + row]) : found);
        }
}

template <class T> KERNEL convolve(View<const T> a, View<const T> weight, View<const T> bias, View<T> out,
                                   View<typename Wide<T>::type> sums, Convolution to) {
    convolve_tile<T, 64, 64, 16, 16>(a, weight, bias, out, sums, to);
}
// For few channels, and for many of everything.
template <class T> KERNEL convolve_few(View<const T> a, View<const T> weight, View<const T> bias,
                                       View<T> out, View<typename Wide<T>::type> sums, Convolution to) {
    convolve_tile<T, 16, 128, 32, 16>(a, weight, bias, out, sums, to);
}
template <class T> KERNEL convolve_large(View<const T> a, View<const T> weight, View<const T> bias,
                                         View<T> out, View<typename Wide<T>::type> sums, Convolution to) {
    convolve_tile<T, 128, 128, 16, 8>(a, weight, bias, out, sums, to);
}

// For groups of so few channels that a tile would be empty: a thread has an element.
template <class T> KERNEL convolve_each(View<const T> a, View<const T> weight, View<const T> bias,
                                        View<T> out, Convolution to) {
    typedef typename Wide<T>::type A;
    const Axis *axes = to.axes;
    u32 high = (u32)axes[1].places, broad = (u32)axes[2].places;
    Spot s = spot_of(places_of(axes));
    if (s.plane >= to.images * to.groups * to.each) return;
    u32 each = (u32)to.each, image_group = (u32)s.plane / each, group = image_group % (u32)to.groups,
        high_channel = (u32)s.plane % each;
    u32 q[3] = {s.place / broad / high, s.place / broad % high, s.place % broad};
    int at[3];
    Meeting meet[3];
#pragma unroll
    for (int d = 0; d < 3; d++) {
        u32 turn = q[d] / (u32)axes[d].divisor;
        meet[d] = meeting(axes[d], q[d] - turn * (u32)axes[d].divisor);
        at[d] = meet[d].at + (int)(turn * axes[d].factor);
    }
    i64 row = group * to.inner * to.each * taps_of(axes) + high_channel * to.row,
        plane = image_group * to.inner * cells_of(axes);
    A total = 0;
    for (i64 c = 0; c < to.inner; c++, row += to.step, plane += cells_of(axes))
        for (int h = 0; h < meet[0].count; h++)
            for (int j = 0; j < meet[1].count; j++)
                for (int i = 0; i < meet[2].count; i++) {
                    int z = at[0] + h * meet[0].step, y = at[1] + j * meet[1].step,
                        x = at[2] + i * meet[2].step;
                    if (within(axes, z, y, x))
                        total += wide(weight[row + tap_of(axes, meet, h, j, i)]) *
                                 wide(a[plane + apart(axes, z, y, x)]);
                }
    if (bias.given()) total += wide(bias[group * each + high_channel]);
    out[first()] = narrow<T>(total);
}

// Parts of sums joined in their order.
template <class T> KERNEL join_parts(View<const typename Wide<T>::type> sums, View<const T> bias, View<T> out,
                                     i64 parts, i64 count, i64 channels, i64 size) {
    for (i64 i = first(); i < count; i += stride()) {
        typename Wide<T>::type total = 0;
        for (i64 p = 0; p < parts; p++) total += sums[p * count + i];
        if (bias.given()) total += wide(bias[i / size % channels]);
        out[i] = narrow<T>(total);
    }
}
