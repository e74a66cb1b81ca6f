"""Proximal policy optimisation: what does a round of rollout and updates cost beside torch's?

The carts are NumPy's: each of their steps waits for the actions. The updates wait for nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .bench import Bench, Row, main
from .beside import Chance, Step, row, started

CARTS, LENGTH, EPOCHS, PARTS, WIDTH = 8, 32, 4, 4, 64
GAMMA, LAMBDA, CLIP = 0.99, 0.95, 0.2


class Carts:
    """Poles on carts that are pushed left or right; one that falls or leaves the track begins anew."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(3)
        self.state = self._new()

    def _new(self) -> Any:
        return self.rng.uniform(-0.05, 0.05, (CARTS, 4)).astype(np.float32)

    def step(self, action: Any) -> tuple[Any, Any, Any]:
        """New states, rewards, and which carts ended."""
        _, speed, angle, spin = self.state.T
        push = (np.where(action == 1, 10.0, -10.0) + 0.05 * spin**2 * np.sin(angle)) / 1.1
        turn = (9.8 * np.sin(angle) - np.cos(angle) * push) / (0.5 * (4 / 3 - np.cos(angle) ** 2 / 11))
        pull = push - 0.05 * turn * np.cos(angle) / 1.1
        change = np.stack([speed, pull, spin, turn], 1).astype(np.float32)
        moved = self.state + np.float32(0.02) * change
        ended = (np.abs(moved[:, 0]) > 2.4) | (np.abs(moved[:, 2]) > 0.21)
        self.state = np.where(ended[:, None], self._new(), moved)
        return self.state, np.ones(CARTS, np.float32), ended.astype(np.float32)


def actor_critic(lib: Any) -> Any:
    """Scores of the actions and the value of a state, by two networks."""
    nn = lib.nn

    def network(out: int) -> Any:
        return nn.Sequential(
            nn.Linear(4, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, out)
        )  # fmt: skip

    class Agent(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.actor, self.critic = network(2), network(1)

        def policy(self, states: Any) -> Any:
            return lib.distributions.Categorical(logits=self.actor(states))

        def value(self, states: Any) -> Any:
            return self.critic(states).flatten()

    return Agent()


def make(lib: Any, chance: Chance) -> Step:
    """A step is a rollout of all carts, its advantages, and epochs of shuffled parts of it."""
    agent, carts, rng = started(lib, actor_critic(lib)), Carts(), np.random.default_rng(4)
    optimizer = lib.optim.Adam(agent.parameters(), lr=2.5e-4, eps=1e-5)
    states = lib.zeros(LENGTH, CARTS, 4)
    actions, logprobs, rewards, ended, values = (lib.zeros(LENGTH, CARTS) for _ in range(5))
    seen, over = lib.from_numpy(carts.state), lib.zeros(CARTS)

    def rollout() -> None:
        nonlocal seen, over
        for t in range(LENGTH):
            states[t], ended[t] = seen, over
            with lib.no_grad():
                policy = agent.policy(seen)
                action = chance.sample(policy)
                logprobs[t], values[t] = policy.log_prob(action), agent.value(seen)
            actions[t] = action
            state, reward, end = carts.step(action.numpy())
            rewards[t] = lib.from_numpy(reward)
            seen, over = lib.from_numpy(state), lib.from_numpy(end)

    def advantages() -> Any:
        with lib.no_grad():
            following, going = agent.value(seen), 1.0 - over
            found, running = lib.zeros_like(rewards), lib.zeros(CARTS)
            for t in reversed(range(LENGTH)):
                delta = rewards[t] + GAMMA * following * going - values[t]
                found[t] = running = delta + GAMMA * LAMBDA * going * running
                following, going = values[t], 1.0 - ended[t]
        return found

    def update(rows: Any, gained: Any, returns: Any) -> Any:
        policy, value = agent.policy(states.reshape(-1, 4)[rows]), agent.value(states.reshape(-1, 4)[rows])
        ratio = (policy.log_prob(actions.reshape(-1)[rows]) - logprobs.reshape(-1)[rows]).exp()
        gained = gained.reshape(-1)[rows]
        gained = (gained - gained.mean()) / (gained.std() + 1e-8)
        clipped = lib.clamp(ratio, 1 - CLIP, 1 + CLIP)
        loss = lib.max(-gained * ratio, -gained * clipped).mean() - 0.01 * policy.entropy().mean()
        loss = loss + 0.5 * 0.5 * ((value - returns.reshape(-1)[rows]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        lib.nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
        optimizer.step()
        return loss

    def step() -> tuple[Any, ...]:
        rollout()
        gained = advantages()
        returns = gained + values
        for _ in range(EPOCHS):
            for rows in np.split(rng.permutation(LENGTH * CARTS), PARTS):
                loss = update(rows, gained, returns)
        return (loss,)

    return step


def question(bench: Bench) -> list[Row]:
    """A step is a round; its last loss is read."""
    work = (
        f"PPO, {CARTS} carts of NumPy, {LENGTH} steps each, {EPOCHS * PARTS} updates, 4-{WIDTH}-{WIDTH}-2, "
        "Adam, a round"
    )
    return [row(bench, work, make, 1.5, steps=4, every=1)]


if __name__ == "__main__":
    main(question)
