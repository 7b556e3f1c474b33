"""`python -m worth_deepeval`: the command `worth`."""

from worth_deepeval.cli import main

if __name__ == "__main__":
    main()
