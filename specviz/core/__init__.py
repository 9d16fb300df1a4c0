"""What everything else stands on: settings, random numbers, records of a step, sampling, the machine. Knows no model."""
