// Reads and sums by index. An index out of its bounds sets `error` to 1 and itself, and nothing is read for
// it.

// Slices of an array [outer, n, inner] along its middle dimension.
template <class T, class I> KERNEL take_slices(View<const T> a, View<const I> index, View<T> out,
                                               View<i64> error, i64 count, i64 n, i64 inner, i64 many) {
    for (i64 k = first(); k < count; k += stride()) {
        i64 at = (i64)index[k / inner % many];
        if (at < 0 || at >= n) {
            error[0] = 1;
            error[1] = at;
        } else {
            out[k] = a[(k / inner / many * n + at) * inner + k % inner];
        }
    }
}

// Elements of an array [outer, n, inner] by an index [outer, many, inner].
template <class T, class I> KERNEL gather(View<const T> a, View<const I> index, View<T> out, View<i64> error,
                                          i64 count, i64 n, i64 inner, i64 many) {
    for (i64 k = first(); k < count; k += stride()) {
        i64 at = (i64)index[k];
        if (at < 0 || at >= n) {
            error[0] = 1;
            error[1] = at;
        } else {
            out[k] = a[(k / inner / many * n + at) * inner + k % inner];
        }
    }
}

// Rows of a gradient added up by index, in the order of their places, so that every run gives the same bits:
// `order` sorts the indices and keeps that of equal ones. Who is at the first of equal indices adds all of
// them. Row `padding` gets nothing; `scaled` divides by how many there are.
template <class T, class I> KERNEL add_rows(View<const T> g, View<const I> index, View<const i64> order,
                                            View<T> out, View<i64> error, i64 count, i64 width, i64 rows,
                                            i64 padding, i64 scaled) {
    typedef typename Wide<T>::type A;
    for (i64 k = first(); k < count * width; k += stride()) {
        i64 p = k / width, j = k % width, row = (i64)index[order[p]];
        if (row < 0 || row >= rows) {
            error[0] = 1;
            error[1] = row;
            continue;
        }
        if (row == padding || (p > 0 && (i64)index[order[p - 1]] == row)) continue;
        i64 end = p + 1;
        while (end < count && (i64)index[order[end]] == row) end++;
        A total = 0;
        for (i64 q = p; q < end; q++) {
            A each = wide(g[order[q] * width + j]);
            total += scaled ? each / (A)(end - p) : each;
        }
        out[row * width + j] = narrow<T>(total);
    }
}
