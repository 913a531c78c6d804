# SPDX-License-Identifier: Apache-2.0
"""Generates recordings of a processor that keeps the call stack in its branch registers (LBR), without such a processor. Threads call and return at random,
deeper than there are registers, and are sampled. The samples contain what the kernel writes with
PERF_SAMPLE_BRANCH_CALL_STACK: the calls in the registers, newest first, and hw_idx, the register that holds the
newest call."""
import os
import random
import struct

import fresh
import made

CHAIN, BRANCHES = 1 << 5, 1 << 11
BRANCH_USER, BRANCH_CALL_STACK, BRANCH_NO_FLAGS, BRANCH_NO_CYCLES, BRANCH_HW_INDEX = 1, 1 << 11, 1 << 14, 1 << 15, 1 << 17
LBR = BRANCH_USER | BRANCH_CALL_STACK | BRANCH_NO_FLAGS | BRANCH_NO_CYCLES
KERNEL_MARKER, USER_MARKER = (1 << 64) - 128, (1 << 64) - 512
KERNEL_MODE = 1
HOST_NAME, CPU_PMU_CAPS = 3, 28   # features; without the first, files of the other byte order have no features at all
PROGRAM, FUNCTIONS, FUNCTION = 0x401000, 40, 64   # the program's address; its number of functions, and the size of each
KERNEL, KERNEL_FUNCTIONS = 0xffffffff81000000, 200
KINDS = made.IP | made.TID | made.TIME | CHAIN | BRANCHES
TIDS = (7, 8, 9)
FIRST_TIME = 10


def string(text):
    return struct.pack("<I", 64) + text.encode().ljust(64, b"\0")


def caps(registers):
    """The feature with the number of registers."""
    pairs = ("branches", str(registers)), ("max_precise", "3")
    return struct.pack("<I", len(pairs)) + b"".join(string(text) for pair in pairs for text in pair)


def attr(branches=LBR | BRANCH_HW_INDEX):
    one = bytearray(made.attr(KINDS))
    struct.pack_into("<Q", one, 72, branches)
    return bytes(one)


class Thread:
    """A thread's calls, outermost first, and its registers: the newest `held` calls are in registers; the newest call is in register `top`."""

    def __init__(self, tid, registers):
        self.tid, self.registers = tid, registers
        self.calls, self.held, self.top = [], 0, registers - 1
        self.at = PROGRAM

    def call(self, function, place):
        target = PROGRAM + FUNCTION * (function % FUNCTIONS)
        self.calls.append((self.at + place % FUNCTION, target, self.at))
        self.held = min(self.held + 1, self.registers)
        self.top = (self.top + 1) % self.registers
        self.at = target

    def leave(self):
        _, _, self.at = self.calls.pop()
        self.held -= 1
        self.top = (self.top - 1) % self.registers

    def entries(self):
        return [call[:2] for call in self.calls[len(self.calls) - self.held:][::-1]]

    def stack(self):
        """The current address, and the addresses of the calls up to the outermost."""
        return [self.entries()[0][1]] + [call[0] for call in self.calls[::-1]]

    def sample(self, time, kernel, user, has_top):
        chain = ([KERNEL_MARKER, *kernel] if kernel else []) + ([USER_MARKER, self.at + 1] if user else [])
        entries = self.entries()
        words = [len(chain), *chain, len(entries)] + ([self.top] if has_top else [])
        for entry in entries:
            words += (*entry, 0)
        kind, misc, body = made.sample(kernel[0] if kernel else self.at + 1, time, *words, pid=self.tid)
        return kind, KERNEL_MODE if kernel else misc, body


def begin(threads, path):
    """COMM and MMAP records of the threads and the kernel."""
    name = made.padded(b"[kernel.kallsyms]_text")
    body = struct.pack("<iIQQQ", -1, 0, KERNEL, 0x1000000, KERNEL) + name + made.tail(0, 0)
    records = [(made.MMAP, KERNEL_MODE, body)]
    for thread in threads:
        own = struct.pack("<IIQQQ", thread.tid, thread.tid, PROGRAM, 0x1000, 0x1000) + made.padded(path.encode())
        records.append(made.comm("thread%d" % thread.tid, 1, thread.tid))
        records.append((made.MMAP, made.USER, own + made.tail(2, thread.tid)))
    return records


def wander(thread, chance, deep, most, full):
    """Makes up to `most` calls and returns; with `full`, continues until all registers are in use."""
    for _ in range(chance.randrange(most + 1)):
        if thread.held > 1 and (len(thread.calls) >= deep or chance.random() < 0.5):
            thread.leave()
        else:
            thread.call(chance.randrange(1000), chance.randrange(1000))
    while full and thread.held < thread.registers:
        thread.call(chance.randrange(1000), chance.randrange(1000))


def walk(threads, count, seed, full, has_top=True, has_kernel=True):
    """Yields (sample, [addresses in the kernel, addresses in the program]) of threads that take turns. Some samples are in the kernel, and some in a kernel
    thread, which has no program. `full`: all registers are in use in every sample."""
    chance = random.Random(seed)
    registers = threads[0].registers
    for thread in threads:
        wander(thread, chance, 4 * registers, 6 * registers, full)
        while not thread.held:
            thread.call(1, 1)
    for time in range(FIRST_TIME, FIRST_TIME + count):
        thread = chance.choice(threads)
        wander(thread, chance, 1000, registers // 3 if full else chance.choice((1, 3, 3 * registers)), full)
        kernel = [KERNEL + 16 * chance.randrange(KERNEL_FUNCTIONS) for _ in range(chance.choice((0, 0, 0, 1, 5)) if has_kernel else 0)]
        user = not kernel or chance.random() < 0.8
        yield thread.sample(time, kernel, user, has_top), [kernel, thread.stack() if user else []]


def write_kernel(folder):
    with open(os.path.join(folder, "kallsyms"), "w", encoding="ascii") as file:
        file.write("%x T _text\n" % KERNEL)
        file.write("".join("%x T kernel_%d\n" % (KERNEL + 16 * number, number) for number in range(KERNEL_FUNCTIONS + 1)))


def link_program(folder):
    """Makes folder/program, whose functions are only symbols without code."""
    fresh.need("as", "ld")
    with open(os.path.join(folder, "program.s"), "w", encoding="ascii") as file:
        for number in range(FUNCTIONS):
            file.write(".globl f%d\n.type f%d, @function\nf%d: .skip %d\n.size f%d, %d\n" %
                       (number, number, number, FUNCTION, number, FUNCTION))
    fresh.must(["as", "-o", "program.o", "program.s"], folder, "as")
    fresh.must(["ld", "-e", "0", "-Ttext=0x%x" % PROGRAM, "-o", "program", "program.o"], folder, "ld")
    return os.path.join(folder, "program")


def write_recording(folder, name, count, registers=32, seed=1, full=False, known=None, branches=LBR | BRANCH_HW_INDEX,
                    has_kernel=True):
    """Writes folder/NAME, and returns the true stacks of its samples; addresses of the program are offsets in its
    file. `known`: the number of registers that the recording states; 0: not stated."""
    if not os.path.exists(os.path.join(folder, "kallsyms")):
        write_kernel(folder)
        link_program(folder)
    threads = [Thread(tid, registers) for tid in TIDS]
    steps = list(walk(threads, count, seed, full, branches & BRANCH_HW_INDEX, has_kernel))
    records = begin(threads, os.path.join(folder, "program")) + [record for record, _ in steps]
    known = registers if known is None else known
    features = {HOST_NAME: string("here"), **({CPU_PMU_CAPS: caps(known)} if known else {})}
    made.write_file(os.path.join(folder, name), records, [attr(branches)], features)
    return [[kernel, [address - PROGRAM + 0x1000 for address in own]] for _, (kernel, own) in steps]
