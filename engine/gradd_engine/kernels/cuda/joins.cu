// Arrays joined along a dimension, in one launch: copies, whatever their dtype.

// Up to MANY arrays, by value. Each is `outer` runs of a length of its own; in the result, whose runs have
// `row` elements, its runs begin at `start`. Chunks are counted as in steps.cu.
#define MANY 96
#define CHUNK 4096
struct Joined {
    u64 at[MANY];
    i64 length[MANY], start[MANY];
    // an array's first chunk, and after the last how many there are
    i64 chunk[MANY + 1];
    u64 out;
    i64 outer, row;
};

template <class T> KERNEL join(Joined all) {
    int which = 0;
    while (all.chunk[which + 1] <= blockIdx.x) which++;
    i64 length = all.length[which], size = all.outer * length, start = all.start[which];
    i64 from = (blockIdx.x - all.chunk[which]) * CHUNK, to = from + CHUNK < size ? from + CHUNK : size;
    View<const T> a = view_of<const T>((void *)all.at[which], size);
    View<T> out = view_of<T>((void *)all.out, all.outer * all.row);
    for (i64 i = from + threadIdx.x; i < to; i += blockDim.x)
        out[all.outer == 1 ? start + i : i / length * all.row + start + i % length] = a[i];
}
