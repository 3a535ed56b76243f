"""Which packages are installed, and from which folder.

The folders `gui` and `assets` have short names in the checkout and install as `mbframe_gui` and `mbframe_assets`, so
that nothing called `gui` lands in site-packages. Everything else about the project is in pyproject.toml, which cannot
express the search for packages below a renamed folder.
"""

from setuptools import find_packages, setup

FOLDERS = {"mbframe": "mbframe", "mbframe_gui": "gui", "mbframe_assets": "assets"}

setup(
    packages=[
        name
        for package, folder in FOLDERS.items()
        for name in (package, *(f"{package}.{inner}" for inner in find_packages(folder)))
    ],
    package_dir=FOLDERS,
)
