"""Garbage is not collected while threads work beside the window."""

from __future__ import annotations

import gc
import threading

from gui.memory import beside_the_window


def test_cycles_are_collected_again_when_the_last_thread_has_ended() -> None:
    go_on = threading.Event()
    began = [threading.Event(), threading.Event()]

    @beside_the_window()
    def work(k: int) -> None:
        began[k].set()
        if k == 1:
            go_on.wait(100)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    threads[1].start()
    assert began[1].wait(100)
    assert not gc.isenabled()
    threads[0].start()
    threads[0].join(100)
    assert began[0].is_set()
    assert not gc.isenabled()
    go_on.set()
    threads[1].join(100)
    assert gc.isenabled()
