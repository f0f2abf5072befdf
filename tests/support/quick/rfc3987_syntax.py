"""In the way of the package of this name: jsonschema checks the format "iri" with it, which no test needs, and its
grammar takes each process 2 s to load."""

raise ImportError
