"""The generator of the kernels, in Python's integers."""


def xoshiro(seed):
    """Words without end: splitmix64 seeds xoshiro256++, in Python's integers."""
    mask = 2**64 - 1

    def mix():
        nonlocal seed
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    def rotate(x, k):
        return ((x << k) | (x >> (64 - k))) & mask

    s = [mix() for _ in range(4)]
    while True:
        yield (rotate((s[0] + s[3]) & mask, 23) + s[0]) & mask
        shifted = (s[1] << 17) & mask
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = rotate(s[3], 45)
