"""One thread with 90 buffers, the last two in reverse order in the file. In buffer 45 the clock jumps far ahead, and in
the next buffer it jumps back. Buffer 60 begins far back, and ends with a time record that no call uses."""
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from xray_files import Fdr  # noqa: E402

f = Fdr(5)
t = 1000000
buffers = []
for number in range(90):
    steps = []
    begin = t
    for i in range(1000):
        t += 1
        steps.append(("call", i % 2, 3, t))
    if number == 45:
        steps.append(("wrap", 10**12))
        steps += [("call", k % 2, 4, 10**12 + k) for k in range(2)]
        steps.append(("call", 0, 4, 10**12 + 7))
    if number == 60:
        steps = [("wrap", 500), ("call", 0, 3, 500)] + steps + [("wrap", 10**15)]
    buffers.append(f.buffer(1, 5, 0, begin, steps))
buffers[88], buffers[89] = buffers[89], buffers[88]
sys.stdout.buffer.write(f.header() + b"".join(buffers))
