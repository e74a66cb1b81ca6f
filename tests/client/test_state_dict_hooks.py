"""Hooks of saving and loading a module's state, what subclasses extend, and versions: as in PyTorch."""

from __future__ import annotations

import copy
from typing import Any

import pytest


def test_hooks_of_saving(T: Any) -> None:
    model = T.nn.Sequential(T.nn.Linear(1, 1, bias=False))
    seen: list[Any] = []

    def after(module: Any, state: Any, prefix: str, about: Any) -> None:
        seen.append((prefix, about, list(state)))
        state[prefix + "more"] = T.ones(1)

    model[0].register_state_dict_pre_hook(lambda m, prefix, keep_vars: seen.append((prefix, keep_vars)))
    handle = model[0].register_state_dict_post_hook(after)
    assert list(model.state_dict(keep_vars=True)) == ["0.weight", "0.more"]
    assert seen == [("0.", True), ("0.", {"version": 1}, ["0.weight"])]
    handle.remove()
    assert list(model.state_dict()) == ["0.weight"]
    model._register_state_dict_hook(lambda m, state, prefix, about: {"only": 1})
    assert model.state_dict() == {"only": 1}


def test_a_public_hook_of_saving_may_return_nothing(T: Any) -> None:
    model = T.nn.Identity()
    hook = lambda *_: {}  # noqa: E731
    model.register_state_dict_post_hook(hook)
    with pytest.raises(RuntimeError, match="state_dict post-hook must return None"):
        model.state_dict()
    with pytest.raises(RuntimeError, match="Cannot register the same function as the state dict post hook"):
        model._register_state_dict_hook(hook)


def test_hooks_of_loading(T: Any) -> None:
    model = T.nn.Sequential(T.nn.Linear(1, 1, bias=False))
    calls: list[Any] = []

    def rename(module: Any, state: Any, prefix: str, about: Any, strict: bool, *lists: Any) -> None:
        calls.append((module is model[0], prefix, about, strict, lists))
        state[prefix + "weight"] = state.pop(prefix + "w")

    model[0].register_load_state_dict_pre_hook(rename)
    model._register_load_state_dict_pre_hook(lambda state, prefix, *_: state.setdefault("x", T.ones(1)))

    def forgive(module: Any, found: Any) -> None:
        found.unexpected_keys.remove("x")

    handle = model.register_load_state_dict_post_hook(forgive)
    assert str(model.load_state_dict({"0.w": T.tensor([[7.0]])})) == "<All keys matched successfully>"
    assert model[0].weight.item() == 7
    assert calls == [(True, "0.", {}, True, ([], [], []))]
    handle.remove()
    model.register_load_state_dict_post_hook(lambda *_: 3)
    with pytest.raises(AssertionError, match="are not expected to return new values"):
        model.load_state_dict({"0.w": T.tensor([[7.0]])})


def test_hooks_with_their_module_follow_a_copy(T: Any) -> None:
    model = T.nn.Linear(1, 1)
    assert len(copy.deepcopy(model)._state_dict_hooks) == 0
    model.register_state_dict_post_hook(lambda m, state, *_: state.update(more=T.ones(1)))
    assert list(copy.deepcopy(model).state_dict()) == ["weight", "bias", "more"]


def test_extra_state(T: Any) -> None:
    class Counting(T.nn.Module):  # type: ignore[misc,name-defined]
        count = 3

        def get_extra_state(self) -> Any:
            return {"count": self.count}

        def set_extra_state(self, state: Any) -> None:
            self.count = state["count"]

    model = T.nn.Sequential(Counting())
    assert model.state_dict() == {"0._extra_state": {"count": 3}}
    model.load_state_dict({"0._extra_state": {"count": 9}})
    assert model[0].count == 9
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "0._extra_state"'):
        model.load_state_dict({})
    with pytest.raises(RuntimeError, match=r'Unexpected key\(s\) in state_dict: "_extra_state"'):
        T.nn.Identity().load_state_dict({"_extra_state": 1})
    with pytest.raises(RuntimeError, match="should never be called"):
        T.nn.Identity().get_extra_state()
    with pytest.raises(RuntimeError, match="should never be called"):
        T.nn.Identity().set_extra_state(1)


def test_subclasses_extend_what_is_saved_and_loaded(T: Any) -> None:
    class Old(T.nn.Linear):  # type: ignore[misc,name-defined]
        _version = 4

        def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
            super()._save_to_state_dict(destination, prefix, keep_vars)
            destination[prefix + "kernel"] = destination.pop(prefix + "weight")

        def _load_from_state_dict(self, state: Any, prefix: str, about: Any, *rest: Any) -> None:
            assert about.get("version") == 4
            state[prefix + "weight"] = state.pop(prefix + "kernel")
            super()._load_from_state_dict(state, prefix, about, *rest)

    model = T.nn.Sequential(Old(1, 1))
    state = model.state_dict()
    assert list(state) == ["0.bias", "0.kernel"]
    assert dict(state._metadata) == {"": {"version": 1}, "0": {"version": 4}}
    assert str(model.load_state_dict(copy.deepcopy(state))) == "<All keys matched successfully>"


def test_what_cannot_be_loaded_is_said(T: Any) -> None:
    model = T.nn.ModuleDict({"a": T.nn.Linear(1, 1, bias=False)})
    model.register_module("none", None)
    model.register_buffer("scale", T.zeros(()))
    model.load_state_dict({"a.weight": T.ones(1, 1), "scale": T.tensor([4.0]), "none.x": T.ones(1)})
    assert model.scale.item() == 4
    with pytest.raises(RuntimeError) as raised:
        model.load_state_dict({"a.weight": 3, "scale": T.ones(2), "b": T.ones(1), "a.c.d": T.ones(1)})
    kind = "<class 'int'>"
    assert str(raised.value).splitlines() == [
        "Error(s) in loading state_dict for ModuleDict:",
        '\tUnexpected key(s) in state_dict: "b", "a.c.d". ',
        "\tsize mismatch for scale: copying a param with shape torch.Size([2]) from checkpoint, the shape in "
        "current model is torch.Size([]).",
        '\tWhile copying the parameter named "a.weight", expected torch.Tensor or Tensor-like object from '
        f"checkpoint but received {kind}",
    ]
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like, got <class 'int'>"):
        model.load_state_dict(3)


def test_positional_arguments_of_state_dict_are_old(T: Any) -> None:
    into: dict[str, Any] = {}
    with pytest.warns(FutureWarning, match="Positional args are being deprecated"):
        found = T.nn.Linear(1, 1).state_dict(into, "p.")
    assert found is into
    assert list(into) == ["p.weight", "p.bias"]


def test_assigned_parameters_keep_whether_they_get_gradients(T: Any) -> None:
    model = T.nn.Linear(1, 1, bias=False)
    model.weight.requires_grad_(False)
    given = T.nn.Parameter(T.ones(1, 1))
    model.load_state_dict({"weight": given}, assign=True)
    assert model.weight is given
    assert not given.requires_grad


def test_norms_are_loaded_from_what_older_versions_saved(T: Any) -> None:
    norm = T.nn.BatchNorm1d(2)
    state = norm.state_dict()
    assert state._metadata[""] == {"version": 2}
    old = {name: v for name, v in state.items() if name != "num_batches_tracked"}
    assert str(norm.load_state_dict(old)) == "<All keys matched successfully>"
    assert norm.num_batches_tracked.item() == 0
    del state["num_batches_tracked"]
    with pytest.raises(RuntimeError, match="Missing key"):
        norm.load_state_dict(state)
    instance = T.nn.Sequential(T.nn.InstanceNorm1d(2))
    with pytest.raises(RuntimeError) as raised:
        instance.load_state_dict({"0.running_mean": T.zeros(2), "0.running_var": T.ones(2)})
    assert str(raised.value).splitlines()[1] == (
        '\tUnexpected running stats buffer(s) "0.running_mean" and "0.running_var" for InstanceNorm1d with '
        "track_running_stats=False. If state_dict is a checkpoint saved before 0.4.0, this may be expected "
        "because InstanceNorm1d does not track running stats by default since 0.4.0. Please remove these "
        "keys from state_dict. If the running stats are actually needed, instead set "
        "track_running_stats=True in InstanceNorm1d to enable them. See the documentation of InstanceNorm1d "
        "for details."
    )
