"""Language models and encoders from Hugging Face folders, hub names and installed packages."""
