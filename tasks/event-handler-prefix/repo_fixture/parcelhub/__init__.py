"""The parcel shelf of a corner shop."""
