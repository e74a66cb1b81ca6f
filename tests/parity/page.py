"""docs/parity-ops.md, from the counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.parity.counting import CHECKS, FEW, WHOLE, Count, Counts
from tests.parity.reasons import why
from tests.parity.tiers import BARS, entries

PAGE = Path(__file__).parents[2] / "docs" / "parity-ops.md"

Found = Mapping[str, Mapping[str, Counts]]

_HEAD = """\
# Operators beside PyTorch

Written by `make parity`. PyTorch has a database of its operators with sample calls; its own tests are made of
these. Here each sample runs on PyTorch and on gradd, and both are compared:

{checks}

Samples in {whole} go through every check, at most {most} of each dtype; a few in
{few} through some. The first
number of a cell is how many samples held, the second of how many; one number means all. The same was done
once more over a daemon, with at most {over} of each dtype. Tiers are what a training script touches (T1), the
rest of common use (T2) and the long tail (T3). `make parity` fails under 99.5 % of samples in any check of
T1, 98 % of T2, and 80 % of whole entries of T3.

| tier | entries | whole | {titles} | over a daemon |
|---|---|---|{lines}---|
{tiers}
"""


def cell(counted: Count) -> str:
    """A count as the page shows it."""
    if not counted.all:
        return "–"
    return str(counted.all) if counted.held == counted.all else f"{counted.held}/{counted.all}"


def percent(held: int, of: int) -> str:
    """A share, never rounded up to the whole."""
    return "–" if not of else "100 %" if held == of else f"{int(1000 * held / of) / 10} %"


def whole(ways: Mapping[str, Counts]) -> bool:
    """Whether every sample of an entry held in every check, wherever it ran."""
    return all(c.held == c.all for counts in ways.values() for c in counts.values())


def _sums(found: Found, tier: str, where: str) -> dict[str, Count]:
    sums = {check: Count() for check in CHECKS}
    for name, ways in found.items():
        if entries()[name].tier == tier:
            for check, counted in ways.get(where, {}).items():
                sums[check].held += counted.held
                sums[check].all += counted.all
    return sums


def missed(found: Found) -> Iterator[str]:
    """What is under its bar."""
    for tier, bar in BARS.items():
        names = [name for name in found if entries()[name].tier == tier]
        if tier == "T3":
            good = sum(whole(found[name]) for name in names)
            if names and good < bar * len(names):
                yield f"{tier}: {good} of {len(names)} entries are whole, under {bar:.1%}"
            continue
        for check, total in _sums(found, tier, "local").items():
            if total.held < bar * total.all:
                yield f"{tier} {check}: {total.held} of {total.all}, under {bar:.1%}"


def unexplained(found: Found) -> list[str]:
    """What is under its bar, and the entries below 100 % of which nobody has said why."""
    silent = [f"{name}: no reason" for name, ways in found.items() if not whole(ways) and not why(name)]
    return [*missed(found), *silent]


def _tier(found: Found, tier: str) -> str:
    names = [name for name in found if entries()[name].tier == tier]
    shares = [percent(c.held, c.all) for c in _sums(found, tier, "local").values()]
    over = _sums(found, tier, "daemon").values()
    daemon = percent(sum(c.held for c in over), sum(c.all for c in over))
    good = sum(whole(found[name]) for name in names)
    return f"| {tier} | {len(names)} | {good} | {' | '.join(shares)} | {daemon} |"


def summary(found: Found) -> str:
    """The tiers' lines, and what is missed."""
    tiers = [_tier(found, tier) for tier in BARS if any(entries()[n].tier == tier for n in found)]
    return "\n".join([*tiers, *unexplained(found)])


def page(found: Found, most: int, over: int) -> str:
    """The text of the page."""
    text = _HEAD.format(
        checks="\n".join(f"- **{check}**: {what};" for check, what in CHECKS.items()).rstrip(";") + ".",
        whole=", ".join(WHOLE),
        few=", ".join(FEW),
        most=most,
        over=over,
        titles=" | ".join(CHECKS),
        lines="---|" * len(CHECKS),
        tiers="\n".join(_tier(found, tier) for tier in BARS),
    )
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in found:
        groups[entries()[name].tier, entries()[name].group].append(name)
    for tier, group in sorted(groups, key=lambda key: key[0]):
        text += f"\n## {tier}: {group}\n\n| entry | {' | '.join(CHECKS)} | over a daemon | why not all |\n"
        text += "|---|" + "---|" * (len(CHECKS) + 2) + "\n"
        for name in groups[tier, group]:
            text += _row(name, found[name]) + "\n"
    return text


def _row(name: str, ways: Mapping[str, Counts]) -> str:
    cells = [cell(counted) for counted in ways["local"].values()]
    over = ways.get("daemon", {}).values()
    cells.append(cell(Count(sum(c.held for c in over), sum(c.all for c in over))))
    return f"| `{name}` | {' | '.join(cells)} | {'' if whole(ways) else why(name)} |"
