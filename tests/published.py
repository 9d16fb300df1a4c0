"""Figures from papers that several tests compare with (Leviathan et al. 2023)."""

# Leviathan et al. 2023, table 1 (c = 0): α, K → operations, speed-up
TABLE_1 = [
    (0.6, 2, 1.53, 1.96),
    (0.7, 3, 1.58, 2.53),
    (0.8, 2, 1.23, 2.44),
    (0.8, 5, 1.63, 3.69),
    (0.9, 2, 1.11, 2.71),
    (0.9, 10, 1.60, 6.86),
]
