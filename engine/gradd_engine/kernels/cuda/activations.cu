// Activations and their gradients, element by element: `g` is the gradient, `x` the input, or the result.

#define OF_ONE(name, parameters, value)                                                      \
    template <class T> KERNEL name(View<const T> a, View<T> out, i64 n parameters) {         \
        typedef typename Wide<T>::type A;                                                    \
        for (i64 i = first(); i < n; i += stride()) {                                        \
            A x = wide(a[i]);                                                                \
            out[i] = narrow<T>(value);                                                       \
        }                                                                                    \
    }
#define OF_TWO(name, parameters, value)                                                                   \
    template <class T> KERNEL name(View<const T> s, View<const T> a, View<T> out, i64 n parameters) {     \
        typedef typename Wide<T>::type A;                                                                 \
        for (i64 i = first(); i < n; i += stride()) {                                                     \
            A g = wide(s[i]), x = wide(a[i]);                                                             \
            out[i] = narrow<T>(value);                                                                    \
        }                                                                                                 \
    }
#define AND(...) , __VA_ARGS__

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

OF_ONE(relu, , x <= 0 ? (A)0 : x)
OF_ONE(sigmoid, , logistic(x))
OF_ONE(silu, , x * logistic(x))
OF_ONE(gelu_none, , x * normal_tail(x))
OF_ONE(gelu_tanh, , (A)0.5 * x * ((A)1 + bent(x)))
OF_ONE(leaky_relu, AND(double slope), x > 0 ? x : x * (A)slope)
OF_ONE(elu, AND(double alpha, double scale, double inner), elu_of(x, (A)alpha, (A)scale, (A)inner))

OF_TWO(threshold_backward, AND(double threshold), x <= (A)threshold ? (A)0 : g)
OF_TWO(sigmoid_backward, , g * (((A)1 - x) * x))
OF_TWO(tanh_backward, , g * ((A)1 - x * x))
OF_TWO(silu_backward, , g * silu_slope(x))
OF_TWO(gelu_backward_none, , g * (normal_tail(x) + x * bell(x)))
OF_TWO(gelu_backward_tanh, , g * bent_slope(x))
