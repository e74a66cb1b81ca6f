"""PyTorch's tests that gradd does not pass, and why: docs/parity.md lists them (`make parity`)."""

from __future__ import annotations

#: how many pass at least
AT_LEAST = 650

#: a reason, and the tests that fail for it
GROUPS: tuple[tuple[str, str], ...] = (
    (
        "150,000 nodes, one by one: more than the 20 seconds that a test gets",
        """
        TestAutograd.test_free_deep_graph
        TestAutograd.test_free_deep_graph_complicated
        TestAutograd.test_free_deep_graph_pyfunction
        """,
    ),
    (
        "a private name of PyTorch's (`_functions.Resize`, `_unique`, `_backward_hooks = {}`, ...)",
        """
        TestAutograd.test_grad_to_node
        TestAutograd.test_integer_outputs
        TestAutograd.test_requires_grad
        TestAutograd.test_view_replay_enabled
        TestAutogradMultipleDispatchCPU.test_set_sequence_nr_cpu
        TestAutogradFunctional.test_construct_standard_basis_for_base_tensor
        TestAutogradFunctionCPU.test_grad_fn_name_cpu
        TestJvpCPU.test_autograd_function_disables_fwd_grad_cpu
        TestJvpCPU.test_disable_fwd_grad_inside_cpu
        TestJvpCPU.test_disable_fwd_grad_mixed_cpu
        TestJvpCPU.test_disable_fwd_grad_outside_cpu
        """,
    ),
    (
        "memory has no address and no storage object on a client: no `data_ptr()`, `storage()`, `set_()`",
        """
        TestAutograd.test_grad_to_node_set
        TestAutograd.test_no_grad_copy
        TestAutograd.test_type_conversions
        TestAutogradDeviceTypeCPU.test_parameter_resize_cpu
        TestAutogradForwardMode.test_advanced_packing_unpacking
        TestAutogradForwardMode.test_metadata_check_checks_storage_numel
        TestAutogradForwardMode.test_metadata_check_when_primal_has_conj_bit
        """,
    ),
    (
        "not built yet: `igamma`, `lobpcg`, `acosh_` as a function, selective checkpoints",
        """
        TestAutograd.test_lobpcg
        TestAutograd.test_not_implemented_fwad
        TestAutograd.test_not_implemented_grad
        TestSelectiveActivationCheckpoint.test_policy_with_state
        """,
    ),
    (
        "tensors of a transform print as tensors, without wrappers around them",
        """
        TestGradTransformCPU.test_tensor_print_grad_cpu
        TestGradTransformCPU.test_tensor_print_grad_grad_cpu
        TestGradTransformCPU.test_tensor_print_vmap_grad_cpu
        TestGradTransformCPU.test_tensor_print_vmap_vmap_cpu
        """,
    ),
    (
        "a Function's `vmap` sees the mapped dimension as dimension 0",
        "TestAutogradFunctionVmapAPICPU.test_in_dims_single_input_cpu",
    ),
    (
        "a pass over a batch that meets Functions is a pass for each sample, so that it may be dynamic",
        """
        TestJacCPU.test_chunk_jacrev_chunksize_one__preallocate_and_copy_False_cpu
        TestJacCPU.test_chunk_jacrev_chunksize_one__preallocate_and_copy_True_cpu
        """,
    ),
    (
        "forward mode within forward mode works",
        "TestComposabilityCPU.test_autograd_functional_jacfwd_inside_transform_cpu",
    ),
    (
        "within saved-tensor hooks, a pass with `create_graph` does not pack what its own graph keeps",
        "TestAutograd.test_default_saved_variable_hooks_double_backward",
    ),
    (
        "the gradient that a leaf's node was given is not the memory of `.grad`",
        "TestAutograd.test_post_accumulate_grad_hook_ordering",
    ),
    (
        "the test pins a gradient that PyTorch calls unexpected; gradd's is that without writing",
        "TestAutograd.test_autograd_inplace_views_cross_dtype",
    ),
    (
        "there is no negative bit, and a tangent keeps its own conjugate bit",
        """
        TestAutogradForwardMode.test_metadata_check_check_conj
        TestAutogradForwardMode.test_metadata_check_when_primal_has_neg_bit
        """,
    ),
    (
        "what a checkpoint within a checkpoint leaves is collected, not freed at once",
        """
        TestNestedCheckpoint.test_nested_checkpoint_early_stop_False
        TestNestedCheckpoint.test_nested_checkpoint_early_stop_True
        TestNestedCheckpoint.test_nested_checkpoint_two_children_early_stop_False
        TestNestedCheckpoint.test_nested_checkpoint_two_children_early_stop_True
        """,
    ),
)

#: by test: the reason
REASONS: dict[str, str] = {test: reason for reason, tests in GROUPS for test in tests.split()}
