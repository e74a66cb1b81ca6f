"""Pictures side by side; nothing is written to a file."""

import torch


def make_grid(tensor, nrow=8, padding=2, normalize=False, **_):
    if isinstance(tensor, (list, tuple)):
        tensor = torch.stack(list(tensor), 0)
    tensor = tensor.unsqueeze(0) if tensor.dim() == 3 else tensor
    if tensor.size(1) == 1:
        tensor = torch.cat((tensor, tensor, tensor), 1)
    if normalize:
        tensor = tensor.clone()
        low, high = float(tensor.min()), float(tensor.max())
        tensor.clamp_(min=low, max=high).sub_(low).div_(max(high - low, 1e-5))
    return torch.cat(list(tensor), dim=2)


def save_image(tensor, fp, *_, **options):
    grid = make_grid(tensor, **{name: options[name] for name in ("normalize",) if name in options})
    array = grid.mul(255).add_(0.5).clamp_(0, 255).permute(1, 2, 0).to("cpu", torch.uint8).numpy()
    assert array.ndim == 3
