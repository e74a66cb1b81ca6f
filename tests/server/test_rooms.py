"""Tenants and engine processes: who is where. Processes are letters here, and D is dead."""

from __future__ import annotations

from gradd_server.placement.rooms import Rooms


def living(process: str) -> bool:
    return process != "D"


def enter(rooms: Rooms[str], *tenants: str) -> str:
    """The processes that a session of each is given."""
    return "".join(rooms.enter(tenant, living) or "-" for tenant in tenants)


def test_a_tenant_alone_takes_its_processes_in_turn() -> None:
    rooms = Rooms("AB", each=2, most=4)
    assert enter(rooms, *["me"] * 5) == "ABABA"
    assert not rooms.wants_more("me")
    rooms.leave("A", "me")
    assert enter(rooms, "me") == "B"


def test_another_tenant_has_one_of_its_own_as_long_as_there_may_be_more() -> None:
    rooms = Rooms("A", each=1, most=3)
    assert enter(rooms, "me") == "A"
    for tenant, process in (("you", "B"), ("they", "C")):
        assert rooms.wants_more(tenant)
        rooms.add(process)
        assert not rooms.wants_more(tenant)
        assert enter(rooms, tenant, tenant) == process * 2
    assert enter(rooms, "me") == "A"


def test_more_tenants_than_processes_share_those_with_the_fewest() -> None:
    rooms = Rooms("AB", each=1, most=2)
    assert enter(rooms, "me", "you", "you") == "ABB"
    assert not rooms.wants_more("they")
    # Of one tenant and one session, of one and two, of two, of two and more sessions.
    assert enter(rooms, "they", "four", "five", "six") == "ABAB"
    assert enter(rooms, "you") == "A"  # nobody is alone: five sessions there, and five here


def test_who_is_alone_again_has_it_for_itself() -> None:
    rooms = Rooms("AB", each=1, most=2)
    assert enter(rooms, "me", "you", "they") == "ABA"
    rooms.leave("B", "you")
    assert enter(rooms, "they") == "B"  # what it has in A stays there
    rooms.leave("A", "they")
    assert enter(rooms, "me", "they", "you") == "ABA"


def test_a_tenant_does_not_spread_over_what_others_may_need() -> None:
    rooms = Rooms("ABC", each=2, most=3)
    assert enter(rooms, "me", "me", "me", "you", "you", "me") == "ABACCB"


def test_a_dead_process_takes_nobody_and_keeps_its_place() -> None:
    rooms = Rooms("DB", each=1, most=2)
    assert enter(rooms, "me") == "-"  # it is about to be replaced
    rooms.replace("D", "A", ["me", "me"])
    assert enter(rooms, "me", "you") == "AB"
    rooms.leave("D", "me")  # a session that was lost with it
    rooms.leave("A", "me")
    rooms.leave("A", "me")
    assert enter(rooms, "you", "me") == "BA"
