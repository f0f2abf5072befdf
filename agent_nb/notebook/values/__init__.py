"""Variables as the model sees them: described as text and images, with secrets masked."""
