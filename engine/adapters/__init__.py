"""The outside, one file each: machines, runs, repositories, agents."""
