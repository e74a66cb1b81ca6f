"""`gradd completion`: the commands and flags for bash, zsh and fish, read off the parser itself."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from gradd_server.commands.exits import OK

SHELLS = ("bash", "zsh", "fish")


class Choice(NamedTuple):
    """A word that may follow others."""

    after: str
    """The commands before it, as `keys create`."""
    word: str
    help: str


def add(commands: Any, parser: Callable[[], argparse.ArgumentParser]) -> None:
    """Add it to the commands of a parser, for the command line that `parser` makes."""
    completion = commands.add_parser(
        "completion",
        help="print what completes commands and flags in a shell",
        description='bash: eval "$(gradd completion bash)"   zsh: eval "$(gradd completion zsh)"   '
        "fish: gradd completion fish | source",
    )
    completion.add_argument("shell", choices=SHELLS)
    completion.set_defaults(run=functools.partial(_completion, parser))


def _completion(parser: Callable[[], argparse.ArgumentParser], arguments: argparse.Namespace) -> int:
    choices = list(_choices(parser(), ""))
    print(_fish(choices) if arguments.shell == "fish" else _bash(choices, arguments.shell), end="")
    return OK


def _choices(parser: argparse.ArgumentParser, after: str) -> Iterator[Choice]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for word, inner in action.choices.items():
                yield Choice(after, word, helps.get(word, ""))
                yield from _choices(inner, f"{after} {word}".strip())
        elif action.option_strings:
            help = (action.help or "").partition(" [")[0]
            yield from (Choice(after, word, help) for word in action.option_strings if len(word) > 2)
        elif action.choices:
            yield from (Choice(after, str(word), "") for word in action.choices)


def _bash(choices: list[Choice], shell: str) -> str:
    places = list(dict.fromkeys(choice.after for choice in choices))
    cases = "".join(
        f"    '{place}') words='{' '.join(c.word for c in choices if c.after == place)}' ;;\n"
        for place in places
    )
    commands = " ".join(f"'{place}'" for place in places if place)
    start = "autoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else ""
    return f"""{start}_gradd() {{
  local at='' next word words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="${{at:+$at }}${{COMP_WORDS[i]}}"
    for word in {commands}; do
      if [ "$word" = "$next" ]; then at=$next; fi
    done
  done
  case "$at" in
{cases}  esac
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _gradd gradd
"""


def _fish(choices: list[Choice]) -> str:
    lines = []
    for after, word, help in choices:
        words = after.split()
        seen = " and ".join(f"__fish_seen_subcommand_from {w}" for w in words) or "__fish_use_subcommand"
        what = f"-l {word[2:]}" if word.startswith("--") else f"-f -a {word}"
        told = help.replace("\\", "\\\\").replace("'", "\\'")
        lines.append(f"complete -c gradd -n '{seen}' {what} -d '{told}'\n")
    return "".join(lines)
