"""The front door: ``python train.py +experiment=hatespeech_en``."""

from train.front import main

if __name__ == "__main__":
    main()
