"""Proximal policy optimisation on a pole that is balanced on a cart, sixteen carts at a time.

A step of the carts needs the actions, so each waits for one value; the updates wait for none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from beside import main, started, tensor

CARTS, LENGTH, EPOCHS, CLIP, DISCOUNT, SMOOTH = 16, 16, 2, 0.2, 0.98, 0.95


class Carts:
    """Poles on carts, pushed left or right; one that falls or leaves the track begins anew."""

    def __init__(self, seed: int) -> None:
        self.chance = np.random.default_rng(seed)
        self.state = self.chance.uniform(-0.05, 0.05, (CARTS, 4))

    def step(self, right: Any) -> tuple[Any, Any]:
        """The new states, and which carts fell."""
        _, speed, angle, turning = self.state.T
        force = np.where(right, 10.0, -10.0)
        swing = (force + 0.05 * turning**2 * np.sin(angle)) / 1.1
        turned = (9.8 * np.sin(angle) - np.cos(angle) * swing) / (
            0.5 * (4 / 3 - 0.1 * np.cos(angle) ** 2 / 1.1)
        )
        moved = swing - 0.05 * turned * np.cos(angle) / 1.1
        change = np.stack([speed, moved, turning, turned], 1)
        self.state = self.state + 0.02 * change
        fell = (abs(self.state[:, 0]) > 2.4) | (abs(self.state[:, 2]) > 0.21)
        self.state[fell] = self.chance.uniform(-0.05, 0.05, (int(fell.sum()), 4))
        return self.state, fell


def actor_critic(torch: Any) -> Any:
    """Scores of the two actions and the value of a state."""
    nn = torch.nn

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
            self.actor, self.critic = nn.Linear(32, 2), nn.Linear(32, 1)

        def forward(self, states: Any) -> tuple[Any, Any]:
            hidden = self.body(states)
            return self.actor(hidden).log_softmax(-1), self.critic(hidden).squeeze(-1)

    return started(torch, Model())


def advantages(rewards: Any, values: Any, fell: Any) -> Any:
    """Generalised advantages of `LENGTH` steps; `values` has one more."""
    found, running = np.zeros_like(rewards), 0.0
    for t in reversed(range(LENGTH)):
        going = 1.0 - fell[t]
        delta = rewards[t] + DISCOUNT * values[t + 1] * going - values[t]
        running = delta + DISCOUNT * SMOOTH * going * running
        found[t] = running
    return found


def run(torch: Any, steps: int = 3) -> list[float]:
    """For each of `steps` rounds: the share of steps at which no cart fell, and the last update's loss."""
    model, carts, chance = actor_critic(torch), Carts(0), np.random.default_rng(1)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, eps=1e-5)
    seen, curve = carts.state, []
    for _ in range(steps):
        states, actions, logs, values, fell = [], [], [], [], []
        with torch.no_grad():
            for _ in range(LENGTH):
                scores, value = model(tensor(torch, seen))
                probable = scores.numpy()
                action = chance.random(CARTS) < np.exp(probable[:, 1])
                states.append(seen)
                actions.append(action)
                logs.append(np.where(action, probable[:, 1], probable[:, 0]))
                values.append(value.numpy())
                seen, down = carts.step(action)
                fell.append(down)
            values.append(model(tensor(torch, seen))[1].numpy())
        better = advantages(1.0 - np.array(fell), np.array(values), np.array(fell))
        wanted = tensor(torch, (better + np.array(values[:-1])).ravel())
        gained = tensor(torch, ((better - better.mean()) / (better.std() + 1e-8)).ravel())
        before = tensor(torch, np.array(logs).ravel())
        batch, chosen = tensor(torch, np.concatenate(states)), tensor(torch, np.array(actions).ravel() * 1)
        for _ in range(EPOCHS):
            scores, value = model(batch)
            ratio = (scores.gather(1, chosen[:, None])[:, 0] - before).exp()
            held = ratio.clamp(1 - CLIP, 1 + CLIP)
            entropy = -(scores.exp() * scores).sum(-1).mean()
            loss = -torch.min(ratio * gained, held * gained).mean() - 0.01 * entropy
            loss = loss + 0.5 * torch.nn.functional.mse_loss(value, wanted)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
        curve += [1 - float(np.mean(fell)), loss.item()]
    return curve


if __name__ == "__main__":
    main(run, steps=60)
