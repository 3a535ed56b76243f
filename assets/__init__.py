"""Data that ships with the application: icons, meshes, example models, stored results and the help pages.

Installs as `mbframe_assets`; read it through `importlib.resources`.
"""
