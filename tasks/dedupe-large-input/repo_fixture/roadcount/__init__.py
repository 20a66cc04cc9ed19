"""What the axle counters report, cleaned and summed up."""
