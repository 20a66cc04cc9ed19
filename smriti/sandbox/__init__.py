"""The cages in which agents and checks run, what is laid into them, and how a deliverable is graded."""
