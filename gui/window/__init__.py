"""The main window: menus, docks, files and the status bar around the view and the panels."""
