"""The front door: ``python train.py +experiment=hatespeech_en``."""

from train.interrupt import listen

if __name__ == "__main__":
    listen()
    from train.front import main  # takes seconds

    main()
