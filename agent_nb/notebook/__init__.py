"""The notebook: with `hosts` the only room that knows IPython and anywidget."""
