"""The desktop application: windows, panels and widgets over `mbframe`; the only place that imports Qt.

Installs as `mbframe_gui`; imports inside the folder are relative, so that `python -m gui` works in a checkout too.
"""
