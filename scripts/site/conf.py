"""Settings of Sphinx: Markdown by MyST, the PyData theme in light and dark, no file from elsewhere."""

import mbframe

project = "mbframe"
author = "the mbframe authors"
version = release = mbframe.__version__.split("+")[0]
extensions = ["myst_parser", "sphinx_copybutton", "sphinx_design"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
html_theme = "pydata_sphinx_theme"
html_title = "mbframe"
html_static_path = ["static"]
html_css_files = ["mbframe.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 4,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
    "logo": {"text": "mbframe"},
}
copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True
