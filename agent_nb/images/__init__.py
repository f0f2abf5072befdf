"""Images: read, fetched, resized, drawn and cut out here. Vendors that make images are in `providers`."""
