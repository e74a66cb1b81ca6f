"""A tour of PyTorch's surface. With `import torch` in the place of gradd it prints the same, digit for digit.

GRADD_URL says which daemon computes; without it the session is in this process.
"""

import io
import math

import gradd as torch

# -- tensors, and how they print ----------------------------------------------------------------------------

print(torch.tensor(3.5), torch.tensor([1, 2, 3]), torch.tensor([True, False]))
print(torch.tensor([[1.0, 2.5], [-3.25, 4.0]]))
print(torch.tensor([1e-8, 1.0, 12345.678]), torch.tensor([math.nan, math.inf, -1.0]))
print(torch.tensor([1.0 + 2.0j, -0.5j]), torch.tensor([0.1, 0.2], dtype=torch.float64))
print(torch.zeros(2, 0), torch.empty(0), torch.ones(3, dtype=torch.int32), torch.full((2,), 7.0).half())
print(torch.arange(2000).reshape(20, 100))
print(torch.linspace(0, 1, 11), torch.eye(3))
print(torch.arange(24.0).reshape(2, 3, 4))

x = torch.arange(12.0).reshape(3, 4)
print(x.shape, x.size(), x.dtype, x.stride(), x.is_contiguous(), x.t().is_contiguous(), x.numel(), x.dim())
print(x[1], x[:, 1:3], x[x > 5], x[[0, 2]], x[..., -1], x[None].shape)
print(x.sum(), x.mean(dim=0), x.max(), x.argmax(), x.std(unbiased=False), x.var(1))
print(x.min(dim=1))
print(torch.sort(torch.tensor([3.0, 1.0, 2.0]), descending=True))
print(x @ x.t(), torch.cat([x, x], dim=1).shape, torch.stack([x, x]).shape)
print(x.view(4, 3).transpose(0, 1), x.permute(1, 0).contiguous().view(-1)[:5])
print([part.tolist() for part in x.split(2)], [row.sum().item() for row in x])
print(torch.where(x > 5, x, -x), x.clamp(2, 7), x.masked_fill(x < 3, 0))
print(x.float() // 2, x % 3, x**2, -x, 1 / (x + 1), x.eq(3).any(), torch.allclose(x, x + 1e-9))
print(
    (torch.tensor(5) / 2).dtype, (torch.tensor([1]) + 1.5).dtype, torch.tensor(2) ** 3, int(torch.tensor(7))
)
y = x.clone()
y[0] = 9
y[:, 1] += 100
y.mul_(2).add_(1)
print(y, y._version)
print(f"{x.sum():.3f} {x[0, 1].item()} {len(x)} {x.tolist()[0]}")
print(torch.softmax(x[0], 0), torch.logsumexp(x, 1), torch.sigmoid(x[1]), torch.nn.functional.gelu(x[0] - 1))

# -- random numbers: the streams differ, what is done with them does not -----------------------------------

generator = torch.manual_seed(7)
first = torch.rand(3)
torch.manual_seed(7)
print(torch.equal(first, torch.rand(3)), generator.initial_seed(), torch.randn(2, 3).shape)

# -- autograd -----------------------------------------------------------------------------------------------

a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
b = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)
c = (a * b).sin().sum()
print(a, c, c.grad_fn.name(), a.is_leaf, c.requires_grad)
c.backward()
print(a.grad, b.grad)
(a.exp() * b).sum().backward()
print(a.grad)
a.grad = None
(g,) = torch.autograd.grad((a**3).sum(), a, create_graph=True)
print(g, torch.autograd.grad(g.sum(), a)[0])
with torch.no_grad():
    print((a * 2).requires_grad)
    a += 1
print(a, a.detach(), a.data.sum())
try:
    (a * b).backward()
except RuntimeError as error:
    print(type(error).__name__, error)
try:
    d = a.sigmoid()
    e = d * d
    d.add_(1)
    e.sum().backward()
except RuntimeError as error:
    print(str(error).partition(":")[0])

# -- hooks --------------------------------------------------------------------------------------------------

seen = []
h = a * 2
handle = h.register_hook(lambda grad: grad * 10)
h.register_hook(lambda grad: seen.append(grad.tolist()))
h.retain_grad()
a.register_post_accumulate_grad_hook(lambda t: print("accumulated", t.grad))
h.sum().backward()
print(seen, h.grad)
handle.remove()
a.grad = None


# -- a Function of one's own ---------------------------------------------------------------------------------


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        return scale * x**3

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        print("backward of Cube, with", ctx.needs_input_grad)
        return grad_output * ctx.scale * 3 * x**2, None


out = Cube.apply(b, 2.0)
print(out)
out.sum().backward()
print(b.grad)


# -- a Module -----------------------------------------------------------------------------------------------


class Net(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = torch.nn.Linear(2, width)
        self.second = torch.nn.Linear(width, 1)
        self.scale = torch.nn.Parameter(torch.tensor(0.5))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.calls += 1
        return self.scale * self.second(torch.tanh(self.first(x)))


def initialise(net):
    """Weights that depend on nothing but their number: random streams differ."""
    with torch.no_grad():
        for parameter in net.parameters():
            if parameter.dim():
                steps = torch.arange(parameter.numel(), dtype=torch.float32)
                parameter.copy_((steps * 1.7).sin().reshape(parameter.shape) * 0.8)


net = Net(4)
initialise(net)
print(net)
for name, parameter in net.named_parameters():
    print(name, tuple(parameter.shape), parameter.requires_grad)

# -- an optimisation loop ------------------------------------------------------------------------------------

points = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
wanted = torch.tensor([[0.0], [1.0], [1.0], [0.0]])
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=60, gamma=0.5)
loss_of = torch.nn.MSELoss()
net.train()
for epoch in range(120):
    optimizer.zero_grad()
    loss = loss_of(net(points), wanted)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    if epoch % 30 == 0:
        print(f"epoch {epoch:3d}, loss {loss.item():.4f}, rate {schedule.get_last_lr()[0]:.3f}")
net.eval()
with torch.no_grad():
    print(net(points).round(decimals=2).squeeze(), net.calls)

# -- state saved and loaded ----------------------------------------------------------------------------------

state = net.state_dict()
print(list(state))
file = io.BytesIO()
torch.save(state, file)
file.seek(0)
other = Net(4)
print(other.load_state_dict(torch.load(file)))
with torch.no_grad():
    print(torch.equal(other(points), net(points)), other.calls)
