// What convolutions and the gradients of their weights share: geometry, and products of matrices by tiles.
//
// Along an axis, tap i of place q meets the input at (q * factor + offset + i * dilation) / divisor, where
// that is whole and inside. A convolution divides by 1, its transpose by the stride. Places with the same
// rest by the divisor meet the same taps, one of `every`: each rest is a convolution of its own, so that no
// step is for nothing.
#define THREADS 256

struct Axis {
    i64 size, places, taps, factor, divisor, offset, dilation, every;
};
// `inner` channels of each group are summed to `each` of the result; `row` and `step` are how far apart the
// weights of neighbours are, among `each` and among `inner`.
struct Convolution {
    Axis axes[3];
    i64 images, groups, inner, each, row, step, parts;
};

__device__ inline i64 ceiling(i64 a, i64 b) { return (a + b - 1) / b; }

__device__ inline bool within(const Axis *a, int z, int y, int x) {
    return (u32)z < (u32)a[0].size && (u32)y < (u32)a[1].size && (u32)x < (u32)a[2].size;
}
// How far from a plane's first cell another is, or would be.
__device__ inline int apart(const Axis *a, int z, int y, int x) {
    return (z * (int)a[1].size + y) * (int)a[2].size + x;
}
__device__ inline i64 cells_of(const Axis *a) { return a[0].size * a[1].size * a[2].size; }
__device__ inline i64 places_of(const Axis *a) { return a[0].places * a[1].places * a[2].places; }
__device__ inline i64 taps_of(const Axis *a) { return a[0].taps * a[1].taps * a[2].taps; }

// A part of sums: where it begins, and how long it is.
struct Part {
    i64 begin;
    int length;
};
__device__ inline Part part_of(i64 length, i64 parts, i64 part) {
    i64 most = ceiling(length, parts), begin = part * most, left = length - begin;
    return Part{begin, (int)(left < 0 ? 0 : left < most ? left : most)};
}

// A block's tile of a product. Neighbouring threads have neighbouring columns, ALONG of them beside each
// other. Loops over what is to be in registers are unrolled: it needs numbers that are known beforehand.
template <class A, int ROWS, int COLUMNS, int ALONG, int DEPTH> struct Tile {
    static const int DOWN = THREADS / ALONG;
    static const int TALL = ROWS / DOWN, BROAD = COLUMNS / ALONG;
    static const int LEFT = ROWS * DEPTH / THREADS, RIGHT = COLUMNS * DEPTH / THREADS;
    A sums[TALL][BROAD], lefts[LEFT], rights[RIGHT];

    __device__ int row(int r) const { return (int)threadIdx.x / ALONG + r * DOWN; }
    __device__ int column(int c) const { return (int)threadIdx.x % ALONG + c * ALONG; }

    template <class Reader> __device__ void read(Reader &reader, int from, int turn) {
        reader.seek(from, turn);
#pragma unroll
        for (int i = 0; i < LEFT; i++) lefts[i] = reader.left(i);
#pragma unroll
        for (int i = 0; i < RIGHT; i++) rights[i] = reader.right(i);
    }

    // Sums of `length`, in their order. A slice is prepared while the one before the last is multiplied.
    template <class Reader> __device__ void multiply(Reader &reader, int length) {
        SHARED(A, DEPTH * (ROWS + 1), left);
        SHARED(A, DEPTH * (COLUMNS + 1), right);
        int turn = 0;
#pragma unroll
        for (int i = 0; i < TALL * BROAD; i++) sums[i / BROAD][i % BROAD] = 0;
        reader.prepare(0, 0);
        reader.prepare(DEPTH, 1);
        __syncthreads();
        read(reader, 0, 0);
        for (int from = 0; from < length; from += DEPTH, turn ^= 1) {
            __syncthreads();  // the slice before has been multiplied
#pragma unroll
            for (int i = 0; i < LEFT; i++)
                left[reader.left_depth(i) * (ROWS + 1) + reader.left_row(i)] = lefts[i];
#pragma unroll
            for (int i = 0; i < RIGHT; i++)
                right[reader.right_depth(i) * (COLUMNS + 1) + reader.right_column(i)] = rights[i];
            __syncthreads();
            reader.prepare(from + 2 * DEPTH, turn);
            if (from + DEPTH < length) read(reader, from + DEPTH, turn ^ 1);
#pragma unroll 4
            for (int k = 0; k < DEPTH; k++) {
                A down[TALL], along[BROAD];
#pragma unroll
                for (int r = 0; r < TALL; r++) down[r] = left[k * (ROWS + 1) + row(r)];
#pragma unroll
                for (int c = 0; c < BROAD; c++) along[c] = right[k * (COLUMNS + 1) + column(c)];
#pragma unroll
                for (int i = 0; i < TALL * BROAD; i++)
                    sums[i / BROAD][i % BROAD] += down[i / BROAD] * along[i % BROAD];
            }
        }
    }
};
