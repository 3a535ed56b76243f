"""Garbage is collected in the window's thread only."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import weakref

import pytest

from gui.base.memory import Collector


class Node:
    """Something that can be in a cycle; it notes the thread in which it goes."""

    def __init__(self, gone: list[int]) -> None:
        self.itself, self.gone = self, gone

    def __del__(self) -> None:
        self.gone.append(threading.get_ident())


def test_cycles_go_in_the_thread_of_the_window_whoever_made_them(qtbot, collector) -> None:
    """Whatever a thread allocates, nothing is destroyed there."""
    gone: list[int] = []
    known = weakref.ref(Node(gone))

    def work() -> None:
        kept = []
        for _ in range(10 * gc.get_threshold()[0]):
            kept.append([])
            Node(gone)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(100)
    assert known() is not None
    assert not gone
    qtbot.waitUntil(lambda: known() is None)
    assert set(gone) == {threading.get_ident()}


@pytest.mark.parametrize("enabled", [True, False])
def test_afterwards_python_collects_as_before(qapp, enabled: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        collector = Collector()
        assert not gc.isenabled()
        collector.close()
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()


def test_all_generations_are_looked_at_when_memory_has_grown(qapp) -> None:
    """What became old before it became garbage goes too; not without need, since that takes longer."""
    collector = Collector()
    gone: list[int] = []
    node = Node(gone)
    gc.collect(1)  # now it is among the old ones
    del node
    ballast: list[list[int]] = []
    collector._used = 2**60  # whatever else this process does meanwhile
    for _ in range(3 * gc.get_threshold()[1]):
        ballast += [[] for _ in range(2 * gc.get_threshold()[0])]
        collector.collect()
    assert not gone
    collector._used = 0
    collector.collect()
    assert gone == [threading.get_ident()]
    collector.close()


def test_what_was_there_when_it_settled_is_looked_at_once_more_when_it_is_left(qapp) -> None:
    """The program itself is left alone: that is most of the time that collecting takes."""
    frozen = gc.get_freeze_count()
    collector = Collector(loading=True)
    gone: list[int] = []
    opened = Node(gone)
    collector._used = 0
    del opened
    collector.collect()
    assert not gone  # the program is being loaded
    kept = Node(gone)
    collector.settle()
    assert gc.get_freeze_count() > frozen
    Node(gone)
    collector._used = 0
    collector.collect()
    assert len(gone) == 1
    del kept
    collector._used = 0
    collector.collect()
    assert len(gone) == 1
    collector.look_again()
    assert len(gone) == 3
    collector.close()
    assert gc.get_freeze_count() == frozen


def test_pyside_does_not_read_the_sources_of_what_is_imported() -> None:
    """They stayed in memory, and took a tenth of the time until the first picture."""
    program = (
        "import linecache\n"
        "from gui.app.application import make_qt_application\n"
        "make_qt_application()\n"
        "import xml.dom.minidom, mbframe.equations\n"
        "print(*(file for file in linecache.cache if 'minidom' in file or 'equations' in file))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.split() == []
