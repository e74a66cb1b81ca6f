"""Why gradd does not take what PyTorch takes: by function, or ``function:argument``; ``function:call`` is an
order or a kind of arguments, as `signatures.all_missing` has them.
"""

from __future__ import annotations

#: a reason, and what it holds for, without ``torch.``
GAPS: tuple[tuple[str, str], ...] = (
    (
        "sparse tensors are dense behind what they say: places and values are copies anyway",
        "col_indices_copy crow_indices_copy indices_copy values_copy",
    ),
    (
        "no quantized tensors",
        "Tensor.dequantize Tensor.int_repr Tensor.q_per_channel_axis Tensor.q_per_channel_scales "
        "Tensor.q_per_channel_zero_points Tensor.q_scale Tensor.q_zero_point Tensor.qscheme "
        "dequantize fake_quantize_per_channel_affine fake_quantize_per_tensor_affine "
        "quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic quantized_batch_norm "
        "quantized_max_pool1d quantized_max_pool2d",
    ),
    (
        "TorchScript's",
        "fork import_ir_module import_ir_module_from_buffer init_num_threads "
        "merge_type_from_type_comment parse_ir parse_schema parse_type_comment unify_type_list wait",
    ),
    (
        "other devices and libraries, or memory at an address",
        "Tensor.const_data_ptr Tensor.ipu Tensor.mtia "
        "Tensor.to_mkldnn Tensor.to_padded_tensor Tensor.xpu from_file to_dlpack",
    ),
    (
        "of GPUs' kernels alone: PyTorch refuses it on a CPU",
        "addmm:out_dtype baddbmm:out_dtype bmm:out_dtype linalg.svd:driver linalg.svdvals:driver "
        "mm:out_dtype nn.functional.grouped_mm nn.functional.scaled_grouped_mm "
        "nn.functional.scaled_mm",
    ),
    (
        "not there",
        "Tensor.dim_order Tensor.index Tensor.module_load native_channel_shuffle "
        "nn.functional.native_channel_shuffle segment_reduce",
    ),
    (
        "a keyword that is not of PyTorch's documentation",
        "Tensor.map_:other Tensor.orgqr:input2 Tensor.ormqr:input2 Tensor.ormqr:input3 "
        "Tensor.record_stream:s Tensor.requires_grad_:mode det:input expand_copy:implicit "
        "from_numpy:ndarray isin:element isin:test_element linalg.householder_product:A "
        "linalg.norm:input orgqr:input2 ormqr:input2 ormqr:input3 result_type:other "
        "result_type:scalar result_type:scalar1 result_type:scalar2 result_type:tensor "
        "set_num_interop_threads:num set_num_threads:num slogdet:input unsafe_split:input",
    ),
    (
        "taken; `from` is no name that a stub can have",
        "Tensor.random_:from_ Tensor.random_:to Tensor.uniform_:from_ Tensor.uniform_:to",
    ),
    (
        "taken; the form is spelled with *args",
        "Tensor.to:copy Tensor.to:device Tensor.to:dtype Tensor.to:memory_format "
        "Tensor.to:non_blocking Tensor.to:other",
    ),
    (
        "PyTorch's stub has it otherwise than its function",
        "Tensor.new_ones:call Tensor.new_tensor:call Tensor.norm:call Tensor.subtract:call "
        "Tensor.subtract_:call linalg.vander:call nn.functional.gelu:call "
        "nn.functional.normalize:call nn.functional.scaled_dot_product_attention:call norm:call "
        "poisson:call subtract:call tensor:call tensordot:call",
    ),
    (
        "taken, and not in gradd's stub",
        "Tensor.narrow:call Tensor.repeat_interleave:call narrow:call repeat_interleave:call",
    ),
    (
        "dimensions or indices one by one; a tuple is taken",
        "Tensor.count_nonzero:call Tensor.dsplit:call Tensor.hsplit:call Tensor.squeeze:call "
        "Tensor.squeeze_:call Tensor.vsplit:call",
    ),
    (
        "memory is not resized in another format",
        "Tensor.resize_:memory_format",
    ),
    (
        "results of sparse functions are not stored elsewhere",
        "hspmm:out sspaddmm:out",
    ),
    (
        "forms of before PyTorch 1.5",
        "sspaddmm:call",
    ),
    (
        "noise comes of the session's stream",
        "nn.functional.rrelu_:generator rrelu_:generator",
    ),
    (
        "a dense tensor refuses it whatever is given; the class of sparse ones takes it",
        "Tensor.sparse_resize_:size Tensor.sparse_resize_:sparse_dim Tensor.sparse_resize_:dense_dim "
        "Tensor.sparse_resize_and_clear_:size Tensor.sparse_resize_and_clear_:sparse_dim "
        "Tensor.sparse_resize_and_clear_:dense_dim",
    ),
)
