// What kernels of one op and fused kernels compute of an element: `g` is a gradient, `x` the input, or the
// result.

template <class A> __device__ inline A logistic(A x) { return (A)1 / ((A)1 + expo(-x)); }

// The distribution function of the normal distribution, and its density.
__device__ inline float normal_tail(float x) { return 0.5f * erfcf(-x * 0.7071067811865476f); }
__device__ inline double normal_tail(double x) { return 0.5 * erfc(-x * 0.7071067811865476); }
template <class A> __device__ inline A bell(A x) { return expo((A)-0.5 * x * x) * (A)0.3989422804014327; }

template <class A> __device__ inline A silu_slope(A x) {
    A s = logistic(x);
    return s * ((A)1 + x * ((A)1 - s));
}
// The tanh approximation of Hendrycks and Gimpel, "Gaussian Error Linear Units" (2016).
template <class A> __device__ inline A bent(A x) {
    return tangent(x * ((A)0.7978845608028654 + (A)(0.7978845608028654 * 0.044715) * x * x));
}
template <class A> __device__ inline A bent_slope(A x) {
    A t = bent(x), steep = (A)0.7978845608028654 + (A)(3 * 0.7978845608028654 * 0.044715) * x * x;
    return (A)0.5 * ((A)1 + t + x * ((A)1 - t * t) * steep);
}
template <class A> __device__ inline A elu_of(A x, A alpha, A scale, A inner) {
    return x > 0 ? x * scale : less_exp((x < 0 || x != x ? x : (A)0) * inner) * (alpha * scale);
}

template <class A> __device__ inline A relu_of(A x) { return x <= 0 ? (A)0 : x; }
template <class A> __device__ inline A silu_of(A x) { return x * logistic(x); }
template <class A> __device__ inline A gelu_of(A x) { return x * normal_tail(x); }
template <class A> __device__ inline A bent_gelu(A x) { return (A)0.5 * x * ((A)1 + bent(x)); }
template <class A> __device__ inline A leaky_of(A x, A slope) { return x > 0 ? x : x * slope; }
template <class A> __device__ inline A above(A g, A x, A threshold) { return x <= threshold ? (A)0 : g; }
template <class A> __device__ inline A gelu_slope(A x) { return normal_tail(x) + x * bell(x); }

// What dropout multiplies by, from 32 random bits; of element i, from a block of four.
template <class A> __device__ inline A kept(u32 bits, double p, double scale) {
    A uniform = (A)(bits >> 8) * (A)(1.0 / 16777216.0);
    return uniform >= (A)p ? (A)scale : (A)0;
}
template <class A> __device__ inline A kept_at(i64 i, double p, double scale, Key key) {
    return kept<A>(philox((u64)(i >> 2), key).of[i & 3], p, scale);
}
