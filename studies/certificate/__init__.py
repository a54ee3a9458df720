"""What a bias metric's score is worth, from models in which a bias of known strength is planted."""
