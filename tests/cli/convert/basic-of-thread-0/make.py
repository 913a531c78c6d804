"""A trace of version 5 whose only thread is argv[2], with calls of the function argv[3]."""
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from xray_files import Fdr  # noqa: E402

f = Fdr(5)
steps = [("call", i % 2, int(sys.argv[3]), 1000 + i) for i in range(6)]
sys.stdout.buffer.write(f.header() + f.buffer(int(sys.argv[2]), 5, 0, 1000, steps))
