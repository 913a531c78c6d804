"""Samples with the periods argv[3:], each at another address; `lost`: LOST and LOST_SAMPLES records of 2^63 each."""
import struct
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import made  # noqa: E402

PERIOD, LOST, LOST_SAMPLES = 1 << 8, 2, 13
records = [made.comm("x", 1)]
if "lost" in sys.argv:
    records += 2 * [(LOST, 0, struct.pack("<QQ", 1, 2**63) + made.tail(5)),
                    (LOST_SAMPLES, 0, struct.pack("<Q", 2**63) + made.tail(5))]
records += [made.sample(0x1000 * (i + 1), 10 + i, int(period))
            for i, period in enumerate(one for one in sys.argv[3:] if one != "lost")]
made.write_file(sys.argv[2], records, [made.attr(made.IP | made.TID | made.TIME | PERIOD)])
