"""The program: from its start to its end, what happens in a crash, its entry in the desktop's menu."""
