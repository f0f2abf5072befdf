"""The notebook integration: the only package that imports IPython and anywidget."""
