// What comes over the wire (specviz/views/wire.py).

// Places of a token's fields on the wire (specviz/views/wire.py).
export const ID = 0, SHOWN = 1, FATE = 2, PARENT = 3, Q = 4, P = 5, ACCEPT = 6, COIN = 7, DRAFTER = 8, VERIFIER = 9, BREAKS = 10;
