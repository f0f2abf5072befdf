"""Images: reading, fetching, resizing, placeholders and cutouts. Vendors that make images are in `providers`."""
