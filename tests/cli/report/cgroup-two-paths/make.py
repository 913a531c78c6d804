"""One cgroup id that gets a second path between two samples of one place; with `map`, a map after the first sample."""
import struct
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import made  # noqa: E402

CGROUP, SAMPLED = 19, 1 << 21


def cgroup(path, time):
    return CGROUP, 0, struct.pack("<Q", 2) + made.padded(path.encode()) + made.tail(time)


def sample(time):
    return made.sample(0x1000, time, 2)


records = [made.comm("x", 1), sample(5), cgroup("/a", 10), sample(20)]
if sys.argv[2] == "map":
    records.append(made.map_of("/bin/x", 0x1000, 0x1000, 0, 25))
records += [cgroup("/b", 30), sample(40), sample(41), sample(30)]
attr = made.attr(made.IP | made.TID | made.TIME | SAMPLED, flags=made.SAMPLE_ID_ALL | 1 << 32)
made.write_file(sys.argv[3], records, [attr])
