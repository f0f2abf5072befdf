"""The notebook: with `hosts` the only package that imports IPython and anywidget."""
