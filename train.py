"""The front door: ``python train.py +experiment=hatespeech_en``."""

from biasbridge.train.cli.start import start

if __name__ == "__main__":
    start()
