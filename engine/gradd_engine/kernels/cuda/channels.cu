// Batch and group norm of an array [samples, channels, size], and their gradients.

// Batch norm by the batch's own statistics: a block a channel. `running` ones, if given, move towards them.
template <class T> KERNEL batch_norm(View<const T> a, View<const T> weight, View<const T> bias,
                                     View<T> running_mean, View<T> running_var, View<T> out, View<T> means,
                                     View<T> rstds, i64 samples, i64 channels, i64 size, double momentum,
                                     double eps) {
    typedef typename Wide<T>::type A;
    i64 n = samples * size, c = blockIdx.x;
    A total = 0, spread = 0;
    for (i64 k = threadIdx.x; k < n; k += blockDim.x)
        total += wide(a[(k / size * channels + c) * size + k % size]);
    A mean = block_sum(total) / (A)n;
    for (i64 k = threadIdx.x; k < n; k += blockDim.x) {
        A away = wide(a[(k / size * channels + c) * size + k % size]) - mean;
        spread += away * away;
    }
    A variance = block_sum(spread) / (A)n, rstd = (A)1 / root(variance + (A)eps);
    if (threadIdx.x == 0) {
        means[c] = narrow<T>(mean);
        rstds[c] = narrow<T>(rstd);
        A unbiased = variance * (A)((double)n / (double)(n > 1 ? n - 1 : 1));
        if (running_mean.given())
            running_mean[c] = narrow<T>(wide(running_mean[c]) * (A)(1 - momentum) + mean * (A)momentum);
        if (running_var.given())
            running_var[c] = narrow<T>(wide(running_var[c]) * (A)(1 - momentum) + unbiased * (A)momentum);
    }
    A slope = weight.given() ? wide(weight[c]) : (A)1, shift = bias.given() ? wide(bias[c]) : (A)0;
    for (i64 k = threadIdx.x; k < n; k += blockDim.x) {
        i64 at = (k / size * channels + c) * size + k % size;
        A x = (wide(a[at]) - mean) * rstd;
        if (weight.given()) x *= slope;
        if (bias.given()) x += shift;
        out[at] = narrow<T>(x);
    }
}

// Batch norm by running statistics.
template <class T> KERNEL batch_norm_eval(View<const T> a, View<const T> weight, View<const T> bias,
                                          View<const T> mean, View<const T> variance, View<T> out, i64 n,
                                          i64 channels, i64 size, double eps) {
    typedef typename Wide<T>::type A;
    for (i64 i = first(); i < n; i += stride()) {
        i64 c = i / size % channels;
        A x = (wide(a[i]) - wide(mean[c])) / root(wide(variance[c]) + (A)eps);
        if (weight.given()) x *= wide(weight[c]);
        if (bias.given()) x += wide(bias[c]);
        out[i] = narrow<T>(x);
    }
}

// All gradients of batch norm: a block a channel.
template <class T> KERNEL batch_norm_backward(View<const T> g, View<const T> a, View<const T> means,
                                              View<const T> rstds, View<const T> weight, View<T> out,
                                              View<T> for_weight, View<T> for_bias, i64 samples, i64 channels,
                                              i64 size) {
    typedef typename Wide<T>::type A;
    i64 n = samples * size, c = blockIdx.x;
    A mean = wide(means[c]), rstd = wide(rstds[c]), total = 0, along = 0;
    for (i64 k = threadIdx.x; k < n; k += blockDim.x) {
        i64 at = (k / size * channels + c) * size + k % size;
        A slope = wide(g[at]);
        total += slope;
        along += slope * ((wide(a[at]) - mean) * rstd);
    }
    total = block_sum(total);
    along = block_sum(along);
    if (threadIdx.x == 0) {
        if (for_weight.given()) for_weight[c] = narrow<T>(along);
        if (for_bias.given()) for_bias[c] = narrow<T>(total);
    }
    if (!out.given()) return;
    A factor = (weight.given() ? wide(weight[c]) : (A)1) * rstd;
    total /= (A)n;
    along /= (A)n;
    for (i64 k = threadIdx.x; k < n; k += blockDim.x) {
        i64 at = (k / size * channels + c) * size + k % size;
        out[at] = narrow<T>((wide(g[at]) - total - (wide(a[at]) - mean) * rstd * along) * factor);
    }
}

// Group norm: a block a group of a sample, which has `width` channels.
template <class T> KERNEL group_norm(View<const T> a, View<const T> weight, View<const T> bias, View<T> out,
                                     View<T> means, View<T> rstds, i64 groups, i64 width, i64 size,
                                     double eps) {
    typedef typename Wide<T>::type A;
    i64 n = width * size, r = blockIdx.x, row = r * n, channel = r % groups * width;
    A mean, rstd;
    moments(a, row, n, eps, mean, rstd);
    if (threadIdx.x == 0) {
        means[r] = narrow<T>(mean);
        rstds[r] = narrow<T>(rstd);
    }
    for (i64 j = threadIdx.x; j < n; j += blockDim.x) {
        i64 c = channel + j / size;
        A x = (wide(a[row + j]) - mean) * rstd;
        if (weight.given()) x *= wide(weight[c]);
        if (bias.given()) x += wide(bias[c]);
        out[row + j] = narrow<T>(x);
    }
}

// The gradient of group norm for the input.
template <class T> KERNEL group_norm_input(View<const T> g, View<const T> a, View<const T> means,
                                           View<const T> rstds, View<const T> weight, View<T> out, i64 groups,
                                           i64 width, i64 size) {
    typedef typename Wide<T>::type A;
    i64 n = width * size, r = blockIdx.x, row = r * n, channel = r % groups * width;
    A mean = wide(means[r]), rstd = wide(rstds[r]), total = 0, along = 0;
    for (i64 j = threadIdx.x; j < n; j += blockDim.x) {
        A slope = wide(g[row + j]) * (weight.given() ? wide(weight[channel + j / size]) : (A)1);
        total += slope;
        along += slope * ((wide(a[row + j]) - mean) * rstd);
    }
    total = block_sum(total) / (A)n;
    along = block_sum(along) / (A)n;
    for (i64 j = threadIdx.x; j < n; j += blockDim.x) {
        A slope = wide(g[row + j]) * (weight.given() ? wide(weight[channel + j / size]) : (A)1);
        out[row + j] = narrow<T>((slope - total - (wide(a[row + j]) - mean) * rstd * along) * rstd);
    }
}

// Its gradients for weight and bias: a block a channel.
template <class T> KERNEL group_norm_channels(View<const T> g, View<const T> a, View<const T> means,
                                              View<const T> rstds, View<T> for_weight, View<T> for_bias,
                                              i64 samples, i64 groups, i64 width, i64 size) {
    typedef typename Wide<T>::type A;
    i64 n = samples * size, c = blockIdx.x, channels = groups * width;
    A total = 0, along = 0;
    for (i64 k = threadIdx.x; k < n; k += blockDim.x) {
        i64 sample = k / size, at = (sample * channels + c) * size + k % size,
            r = sample * groups + c / width;
        A slope = wide(g[at]);
        total += slope;
        along += slope * ((wide(a[at]) - wide(means[r])) * wide(rstds[r]));
    }
    total = block_sum(total);
    along = block_sum(along);
    if (threadIdx.x == 0) {
        if (for_weight.given()) for_weight[c] = narrow<T>(along);
        if (for_bias.given()) for_bias[c] = narrow<T>(total);
    }
}
