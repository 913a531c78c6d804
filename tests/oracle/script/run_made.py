#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_made.py - compares the installed perf with perfray script on recordings and objects that were each generated for one question.

usage: run_made.py [NAME...]

Environment: PERFRAY, the command. The checks called `names_*` compare our names of addresses with perf's, symbol by
symbol. Each check called `fault_*` reproduces a fault of perf listed in docs/differences.md. The check fails if perf no
longer has the fault (then the entry should be deleted), or if perfray does not behave as the entry says.
"""
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import fresh
import made
from fresh import Skip, Wrong

NAMES = ("-F", "ip,sym,symoff,dso")
FORM = ("-F", "comm,tid,time,event,ip")


def both(folder, recording, options=NAMES):
    """The lines of perf's text and of ours."""
    fresh.need("perf")
    return [text.split("\n") for text in (fresh.perf_script(folder, recording, options),
                                          fresh.our_script(folder, recording, options))]


def expect(said, what):
    if not said:
        raise Wrong(what)


# --- Names of addresses

def link(folder, name, source, *options):
    """Builds folder/NAME from an assembler source with the given linker options."""
    fresh.need("as", "ld")
    fresh.must(["as", "-o", name + ".o", os.path.join(fresh.PROGRAMS, source)], folder, "%s is not assembled" % source)
    fresh.must(["ld", "-e", "0", "-o", name, *options, name + ".o"], folder, "ld")
    return os.path.join(folder, name)


def equal_names(folder, elf):
    made.record_all_of(elf, os.path.join(folder, "perf.data"))
    theirs, ours = both(folder, "perf.data")
    for pair in zip(theirs, ours):
        if pair[0] != pair[1]:
            raise Wrong("%s\n  - %s\n  + %s" % (os.path.basename(elf), *pair))
    expect(len(theirs) == len(ours), "other lines")
    return len(ours) - 1, len({match[1] for match in map(NAME.match, ours) if match})


NAME = re.compile(r"\s+[0-9a-f]+ (.*)\+0x")


def check_names(folder):
    """A program and a shared object with the same symbols."""
    figures = [equal_names(folder, link(folder, name, "names.s", *options))
               for name, options in (("program", ()), ("object.so", ("-shared",)))]
    expect(all(names > 25 for _, names in figures), "few names: %s" % (figures,))
    return ", ".join("%d addresses, %d names" % figure for figure in figures)


def check_dynamic_names(folder):
    """Names that are only in the dynamic symbol table, with and without another symbol table."""
    fresh.need("objcopy", "strip")
    elf = link(folder, "object.so", "names.s", "-shared")
    fresh.must(["objcopy", "--strip-symbol=function", elf], folder, "objcopy")
    beside = equal_names(folder, elf)
    fresh.must(["strip", elf], folder, "strip")
    alone = equal_names(folder, elf)
    text = fresh.our_script(folder, "perf.data", NAMES)
    expect(" function+0x0 " in text and " in_data" not in text, "strip left other names")
    return "%d addresses, %d names beside, %d alone" % (beside[0], beside[1], alone[1])


PAGE_FAULTS = 2


def check_memory(folder):
    """Data addresses in memory without a file. For executable memory perf expects a perf map."""
    kinds = made.IP | made.TID | made.TIME | made.ADDR
    records = [made.comm("seven", 1)]
    for number, (name, protection) in enumerate((name, protection) for name in ("//anon", "/dev/zero (deleted)", "[heap]", "[stack]")
                                                for protection in (3, 5, 7, 0)):
        records.append(made.map_of(name, 0x10000 * (number + 1), 0x1000, 0, 2, protection))
    old = [(made.MMAP, made.USER | misc, struct.pack("<IIQQQ", made.PID, made.PID, 0x200000 + misc, 0x1000, 0) +
            made.padded(b"//anon") + made.tail(3)) for misc in (0, made.MMAP_DATA)]
    samples = [made.sample(0x400000, 100 + number, 0x10000 * (number + 1) + 8) for number in range(16)]
    samples += [made.sample(0x400000, 200, 0x200008), made.sample(0x400000, 201, 0x202008)]
    made.write_file(os.path.join(folder, "perf.data"), [*records, *old, *samples], [made.attr(kinds, config=PAGE_FAULTS)])
    theirs, ours = both(folder, "perf.data", ("-F", "addr,sym,dso,ip"))
    expect(theirs == ours, "\n".join(["", *theirs, *ours]))
    expect(len({line.split("(")[1] for line in ours if line}) > 4, "%s" % ours)
    return "%d addresses" % len(samples)


KERNEL = 0xffffffff81000000
KERNEL_LINES = "T _text\nt code\nW weak_code\nw other_weak_code\nD data\nd own_data\nB zeros\nb own_zeros\nR constants\n" \
               "r own_constants\nV odd\nA absolute\nT code_with_data\nT end_of_all\n"


def check_kernel_names(folder):
    """The symbol types of /proc/kallsyms that are used; symbols are 16 bytes apart, and _text is 4096 bytes before the first symbol."""
    lines = ["%x %s\n" % (KERNEL + 0x1000 + 16 * number, line) for number, line in enumerate(KERNEL_LINES.split("\n")[1:-1])]
    with open(os.path.join(folder, "kallsyms"), "w", encoding="ascii") as file:
        file.write("%x T _text\n" % KERNEL + "".join(lines))
    name = made.padded(b"[kernel.kallsyms]_text")
    kernel = struct.pack("<iIQQQ", -1, 0, KERNEL, 0x2000, KERNEL) + name + made.tail(0, 0)
    samples = [(made.SAMPLE, 1, made.sample(ip, 1000 + ip - KERNEL)[2]) for ip in range(KERNEL, KERNEL + 0x1100, 4)]
    made.write_file(os.path.join(folder, "perf.data"), [(made.MMAP, 1, kernel), made.comm("seven", 1), *samples])
    theirs, ours = both(folder, "perf.data", (*NAMES, "--kallsyms", "kallsyms"))
    expect(theirs == ours, "names of the kernel differ: %s" % next((pair for pair in zip(theirs, ours) if pair[0] != pair[1]), ""))
    names = {match[1] for match in map(NAME.match, ours) if match}
    expect({"data", "own_zeros"} <= names and not {"constants", "odd"} & names, "%s" % sorted(names))
    return "%d addresses, %d names" % (len(ours) - 1, len(names))


MODULE = 0xffffffffc0000000
OWN_FILE = """.text
.globl _stext
_stext: .skip 16, 1
.type _ZN3foo3barEv, @function
_ZN3foo3barEv: .skip 4096, 1
.size _ZN3foo3barEv, 4096
"""
KERNEL_OPTIONS = (
    ("--kallsyms", "kallsyms"),
    ("--kallsyms", "kallsyms", "--demangle-kernel"),
    ("--kallsyms", "kallsyms", "--show-kernel-path"),
    ("-k", "vmlinux"),
    ("-k", "vmlinux", "--demangle-kernel"),
    ("-k", "vmlinux", "--demangle-kernel", "--no-demangle"),
    ("-k", "vmlinux", "--show-kernel-path"),
)


def kernel_map(start, length, offset, name):
    return made.MMAP, 1, struct.pack("<iIQQQ", -1, 0, start, length, offset) + made.padded(name) + made.tail(0, 0)


def check_kernel_forms(folder):
    """Kernel symbols are printed unchanged by default, and paths on request."""
    with open(os.path.join(folder, "kallsyms"), "w", encoding="ascii") as file:
        file.write("%x T _text\n%x T _RNvC6_123foo3bar\n%x T _ZN3foo3barEv\n" % (KERNEL, KERNEL + 16, KERNEL + 32))
    with open(os.path.join(folder, "k.s"), "w", encoding="ascii") as file:
        file.write(OWN_FILE)
    link(folder, "vmlinux", os.path.join(folder, "k.s"), "-Ttext=%#x" % KERNEL)
    maps = [kernel_map(KERNEL, 0x2000, KERNEL, b"[kernel.kallsyms]_text"),
            kernel_map(MODULE, 0x1000, 0, b"/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko"), kernel_map(MODULE + 0x1000, 0x1000, 0, b"[fat]")]
    places = (KERNEL, KERNEL + 20, KERNEL + 40, KERNEL + 0xffc, MODULE + 8, MODULE + 0x1008)
    samples = [(made.SAMPLE, 1, made.sample(ip, 1000 + number)[2]) for number, ip in enumerate(places)]
    made.write_file(os.path.join(folder, "perf.data"), [*maps, made.comm("seven", 1), *samples])
    texts = set()
    for options in KERNEL_OPTIONS:
        theirs, ours = both(folder, "perf.data", (*NAMES, *options))
        expect(theirs == ours, "%s\n%s\n%s" % (" ".join(options), "\n".join(theirs), "\n".join(ours)))
        texts.add("\n".join(ours))
    return "%d forms, %d of them different" % (len(KERNEL_OPTIONS), len(texts))


# --- Messages on standard error

ROUND, ID_INDEX = 68, 69
GUEST_USER = 5


def report_check(folder):
    """Late records and samples of guests are reported on standard error and do not change the exit status 0."""
    guest = (made.SAMPLE, GUEST_USER, made.sample(0x1000, 10000)[2])
    records = [made.comm("seven", 1), made.sample(0x1000, 9000), (ROUND, 0, b""), (ROUND, 0, b""), made.sample(0x1000, 4000), guest]
    made.write_file(os.path.join(folder, "perf.data"), records)
    for form in "text", "json":
        done = fresh.run([harness.PERFRAY, "script", "--format", form, "perf.data"], folder)
        written = [line.split(": ", 1)[1].split(" ")[:4] for line in done.stderr.decode().splitlines()]
        expect(done.returncode == 0, "exit status %d" % done.returncode)
        expect(written == ["1 record was written".split(), "1 sample of a".split()], "reported %s" % written)
        expect(done.stdout.count(b"cpu-clock") == 2, "not two samples")
    if not harness.installed("perf"):
        return "without perf"
    theirs, ours = both(folder, "perf.data", ("-F", "comm,time"))
    expect(theirs == ours, "both print what is late where it is met")
    return "as perf prints them"


# --- Faults of perf

def check_exec(folder):
    """perf keeps the mappings of the program image that an exec replaced."""
    records = [made.comm("old", 1), made.map_of("/bin/old", 0x400000, 0x1000, 0, 2), made.sample(0x400010, 3),
               made.comm("new", 4, misc=made.COMM_EXEC), made.map_of("/bin/new", 0x500000, 0x1000, 0, 5),
               made.sample(0x400010, 6), made.sample(0x500010, 7)]
    made.write_file(os.path.join(folder, "perf.data"), records)
    theirs, ours = (re.findall(r"\((.*?)\)", "\n".join(lines)) for lines in both(folder, "perf.data", ("-F", "ip,dso")))
    expect(theirs == ["/bin/old", "/bin/old", "/bin/new"], "perf says %s" % theirs)
    expect(ours == ["/bin/old", "[unknown]", "/bin/new"], "we say %s" % ours)


PARTS = 8


def check_files_of_a_folder(folder):
    """If perf does not sort by time, it reads the files of a folder in the order in which the folder lists them."""
    recording = os.path.join(folder, "perf.data")
    os.mkdir(recording)
    made.write_file(os.path.join(recording, "data"), [made.comm("seven", 1)], features={24: struct.pack("<Q", 1)})
    for part in (5, 2, 7, 0, 3, 6, 1, 4):
        made.other_forms.write(os.path.join(recording, "data.%d" % part),
                               made.other_forms.pack_record(*made.sample(0x1000 + part, 100 - part)))
    listed = [entry.name for entry in os.scandir(recording) if entry.name != "data"]
    numbers = [int(name.split(".")[1]) for name in listed]
    if numbers == sorted(numbers):
        raise Skip("the folder happens to list its files in order")
    theirs, ours = ([int(line, 16) - 0x1000 for line in lines if line.strip()]
                    for lines in both(folder, "perf.data", ("-F", "ip", "--show-round-events")))
    expect(theirs == numbers, "perf reads %s, the folder lists %s" % (theirs, numbers))
    expect(ours == list(range(PARTS)), "we read %s" % ours)
    theirs, ours = both(folder, "perf.data", FORM)
    expect(theirs == ours, "sorted by time, both should be equal")
    return "perf reads the parts %s" % " ".join(map(str, numbers))


INTEL_PT, PT_EVENT = 1, 6
AUXTRACE_INFO, AUXTRACE = 70, 71
FEATURE_AUXTRACE = 18
# Clock, masks of the event's config, and how the event was opened: fields that the recorder writes.
PT_WORDS = (PT_EVENT, 31, 1789569706, 18446744041015200657, 1, 0x400, 0x800, 0, 0, 1, 0, 0, 0, 0, 0, 12, 0)
# PSB, TSC, CBR, PSBEND; on at 0x401000, one branch taken
PT_PACKETS = bytes.fromhex("0282" * 8 + "1900100000000000" + "02031d00" + "0223" + "71001040000000" + "06").ljust(64, b"\0")


def check_instruction_traces(folder):
    """perf prints the events and errors of its decoded instruction trace among the recorded events; with --no-itrace it prints the same as perfray."""
    kinds = made.IP | made.TID | made.TIME | made.IDENTIFIER
    records = [(AUXTRACE_INFO, 0, struct.pack("<II17Q", INTEL_PT, 0, *PT_WORDS)), made.comm("seven", 10, event=0),
               made.sample(0x401000, 20, event=0),
               (AUXTRACE, 0, struct.pack("<QQQIIII", len(PT_PACKETS), 0, 0x1000, 0, made.PID, 0, 0)), PT_PACKETS,
               made.sample(0x401004, 30, event=0)]
    made.write_file(os.path.join(folder, "perf.data"), records,
                    [made.attr(kinds), made.attr(kinds, kind=PT_EVENT, config=0x400)], {FEATURE_AUXTRACE: bytes(8)})
    theirs, ours = both(folder, "perf.data", FORM)
    more = [line for line in theirs if line not in ours]
    expect([line for line in theirs if line in ours] == ours, "what was recorded is not among perf's lines")
    expect(any("instruction trace error" in line for line in more) and any(" psb:" in line for line in more), "%s" % more)
    theirs, ours = both(folder, "perf.data", (*FORM, "--no-itrace"))
    expect(theirs == ours and len(ours) == 3, "with --no-itrace both should be equal")
    return "%d lines that nobody recorded" % len(more)


OVERLAP = """
.type outer, @function
outer: .skip 16, 1
.type inner, @function
inner: .skip 16, 1
.size inner, 16
.skip 32, 1
.size outer, 64
"""
INNER, BEHIND = 20, 48  # in inner, which is inside outer; in outer, after the end of inner


def called(lines):
    """{address: name} from the lines of NAMES, without offsets."""
    return {int(line.split()[0], 16): line.split()[1] for line in lines if line.strip()}


def check_symbols_inside(folder):
    """The name that perf gives to an address covered by two symbols depends on the number of other symbols."""
    fresh.need("as", "ld")
    answers = set()
    for others in range(12):
        text = "".join(".type f%d, @function\nf%d: .skip 16, 1\n.size f%d, 16\n" % ((n,) * 3) for n in range(others))
        with open(os.path.join(folder, "o.s"), "w", encoding="ascii") as file:
            file.write(".text\n" + text + OVERLAP)
        elf = link(folder, "overlap", os.path.join(folder, "o.s"))
        start = 16 * others + next(address for offset, address, _, _, flags in made.loads_of(elf) if flags & 1)
        made.record_all_of(elf, os.path.join(folder, "perf.data"))
        theirs, ours = map(called, both(folder, "perf.data", ("-F", "ip,sym")))
        answers.add((theirs[start + INNER], theirs[start + BEHIND]))
        expect((ours[start + INNER], ours[start + BEHIND]) == ("inner", "outer"), "ours depends on others, too")
    expect(len(answers) > 1, "perf always says %s" % answers)
    return "perf: %s" % ", or ".join(" and ".join(pair) for pair in sorted(answers))


STUBS = """.text
.globl called, calls, last
.type calls, @function
calls: call elsewhere@plt
.skip 11, 1
.size calls, 16
.type last, @function
last: .skip 16, 1
.size last, 16
"""


def sections_of(data):
    """Yields (offset of the header, name, offset, size) of each section."""
    table, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    text, = struct.unpack_from("<Q", data, table + size * names + 24)
    for at in range(table, table + size * count, size):
        name, = struct.unpack_from("<I", data, at)
        offset, length = struct.unpack_from("<QQ", data, at + 24)
        yield at, data[text + name:data.index(b"\0", text + name)].decode(), offset, length


def make_stubs(folder):
    with open(os.path.join(folder, "s.s"), "w", encoding="ascii") as file:
        file.write(STUBS)
    if os.uname().machine != "x86_64":
        raise Skip("the source is for x86-64")
    elf = link(folder, "stubs.so", os.path.join(folder, "s.s"), "-shared", "-z", "lazy")
    with open(elf, "rb") as file:
        data = bytearray(file.read())
    return elf, data, {name: (at, offset, size) for at, name, offset, size in sections_of(data)}


def names_of_stubs(folder, elf, data):
    """The names that each command prints for the addresses of the changed object: {name: addresses}."""
    made.other_forms.write(elf, data)
    made.record_all_of(elf, os.path.join(folder, "perf.data"))
    found = {}, {}
    for names, lines in zip(found, both(folder, "perf.data", ("-F", "ip,sym"))):
        for address, name in called(lines).items():
            names.setdefault(name, []).append(address)
    return found


STUB = "elsewhere@plt"


def check_stubs_without_a_size(folder):
    """Linkers other than GNU's do not write the size of a stub of the procedure linkage table; perf then treats all stubs as empty and at the start of the
    table."""
    elf, data, sections = make_stubs(folder)
    theirs, right = names_of_stubs(folder, elf, data)
    expect(theirs[STUB] == right[STUB] and len(right[STUB]) == 4, "the stub is %s and %s" % (theirs.get(STUB), right.get(STUB)))
    struct.pack_into("<Q", data, sections[".plt"][0] + 56, 0)
    theirs, ours = names_of_stubs(folder, elf, data)
    expect(not set(theirs.get(STUB, ())) & set(right[STUB]), "perf names the stub")
    expect(ours[STUB] == right[STUB], "we do not name the stub")


def check_symbols_of_no_section(folder):
    """perf stops at a symbol whose section does not exist: the names of stubs, and the name of the first address looked up, are lost."""
    elf, data, sections = make_stubs(folder)
    _, offset, size = sections[".dynsym"]
    struct.pack_into("<H", data, offset + size - 24 + 6, 200)
    theirs, ours = names_of_stubs(folder, elf, data)
    expect(STUB not in theirs, "perf names the stub")
    expect({STUB, "calls", "last"} <= set(ours), "we say %s" % sorted(ours))


# --- Markers of call chains

MARKERS_MOST = 4095
DEFERRED = 640          # the marker of a chain whose rest is in a later record; perf 6.1 does not know it
KNOWN = (32, 128, 512)  # hypervisor, kernel, user
CHAIN = (0x1000, 0x2000, 0x3000)


def record_markers(path, values):
    """One chain for each marker at each position: before, between and after the addresses. The times number the chains."""
    records = [made.comm("seven", 1)]
    for place in range(len(CHAIN) + 1):
        for value in values:
            entries = [*CHAIN[:place], (1 << 64) - value, *CHAIN[place:]]
            records.append(made.sample(CHAIN[0], 1000 * (len(records) + 1), len(entries), *entries))
    made.write_file(path, records, [made.attr(made.IP | made.TID | made.TIME | made.CALLCHAIN)])


def chains_of(lines):
    """The addresses of each sample in the output of `script -F time,ip`."""
    chains = []
    for line in lines:
        if ":" in line:
            chains.append([])
        elif line.strip():
            chains[-1].append(int(line, 16))
    return chains


def folded_chains(folder, values):
    """The depths of the chains in profiles, which read chains with other code than script: {frames: samples}."""
    record_markers(os.path.join(folder, "some.data"), values)
    done = fresh.must([harness.PERFRAY, "export", "--format=folded", "--weight=samples", "--no-symbols", "-o", "-", "some.data"],
                      folder, "export")
    stacks = (line.rsplit(" ", 1) for line in done.stdout.decode().splitlines())
    return {stack.count(";"): int(weight) for stack, weight in stacks}


def check_chain_markers(folder):
    """Garbage in a frame-pointer chain can look like any context marker. perf and perfray drop a chain with an
    unknown marker; perf also drops a chain with the marker of deferred chains."""
    every = range(1, MARKERS_MOST + 1)
    places = len(CHAIN) + 1
    record_markers(os.path.join(folder, "perf.data"), every)
    theirs, ours = map(chains_of, both(folder, "perf.data", ("-F", "time,ip")))
    expect(len(theirs) == len(ours) == places * MARKERS_MOST, "%d and %d samples" % (len(theirs), len(ours)))
    for number, pair in enumerate(zip(theirs, ours)):
        value = number % MARKERS_MOST + 1
        whole = list(CHAIN)
        wanted = ([], whole) if value == DEFERRED else (whole, whole) if value in KNOWN else ([], [])
        expect(pair == wanted, "marker -%d: %s and %s" % (value, *pair))
    expect(folded_chains(folder, [DEFERRED]) == {len(CHAIN): places}, "a profile has no chain with -%d" % DEFERRED)
    unknown = [value for value in every if value not in (DEFERRED, *KNOWN)]
    expect(folded_chains(folder, unknown) == {1: places * len(unknown)}, "a profile has chains with unknown markers")
    return "%d markers, %d chains" % (MARKERS_MOST, len(ours))


# --- Records that come later than their round allows

END_OF_ROUND = 68, 0, b""


def check_late_state(folder):
    """A COMM record comes late: perf applies it to samples that follow it in the file, perfray to samples after its time. The order of lines is the
    same."""
    sample = lambda time: made.sample(0x1000, 1000 * time)
    records = [made.comm("first", 1), sample(1000), sample(3000), END_OF_ROUND, sample(4000), END_OF_ROUND, sample(5000), END_OF_ROUND,
               made.comm("second", 2000 * 1000), sample(2500), sample(6000), END_OF_ROUND, sample(7000)]
    made.write_file(os.path.join(folder, "perf.data"), records)
    theirs, ours = [[line.split() for line in text if line] for text in both(folder, "perf.data", ("-F", "comm,time"))]
    expect([one[1] for one in theirs] == [one[1] for one in ours], "perf has another order: %s and %s" % (theirs, ours))
    times = [float(one[1][:-1]) * 1e6 for one in ours]
    right = ["second" if time > 2000 else "first" for time in times]
    expect(sorted(times) != times, "no sample is late")
    expect([one[0] for one in ours] == right, "we say %s" % ours)
    expect([one[0] for one in theirs] != right, "perf says the same")


def check_left_image(folder):
    """The kernel is sampled during an exec: the caller is in the old program image until the thread is sampled in user mode."""
    user, kernel = (1 << 64) - 512, (1 << 64) - 128

    def sample(time, mode, *entries):
        ip = entries[1] if entries[0] == kernel else entries[-1]
        return made.SAMPLE, mode, struct.pack("<QIIQ%dQ" % (len(entries) + 1), ip, made.PID, made.PID, time, len(entries), *entries)
    in_exec = lambda time: sample(time, 1, kernel, 0xffffffff81000000, user, 0x401000)
    records = [made.comm("before", 1), made.map_of("/old", 0x400000, 0x10000, 0, 2), in_exec(1000),
               made.comm("after", 2000, misc=made.COMM_EXEC), in_exec(2500), made.map_of("/new", 0x500000, 0x10000, 0, 3000),
               in_exec(3500), sample(4000, made.USER, user, 0x501000), in_exec(4500)]
    made.write_file(os.path.join(folder, "perf.data"), records, [made.attr(made.IP | made.TID | made.TIME | made.CALLCHAIN)])
    form = ("-F", "time,ip,sym,dso", "--no-symbols")
    lines = [line for line in fresh.our_script(folder, "perf.data", form).split("\n") if "401000" in line or " 1000 " in line]
    expect([line.split()[-1] for line in lines] == ["(/old)", "(/old)", "(/old)", "(/new)", "([unknown])"], "we say %s" % lines)


CHECKS = {
    "names": check_names,
    "names_dynamic": check_dynamic_names,
    "names_of_memory": check_memory,
    "names_of_the_kernel": check_kernel_names,
    "names_of_the_kernel_as_asked": check_kernel_forms,
    "reported_with_the_text": report_check,
    "fault_exec_ends_the_old_maps": check_exec,
    "fault_files_of_a_folder": check_files_of_a_folder,
    "fault_instruction_traces": check_instruction_traces,
    "fault_symbols_inside_of_symbols": check_symbols_inside,
    "fault_stubs_without_a_size": check_stubs_without_a_size,
    "fault_symbols_of_no_section": check_symbols_of_no_section,
    "fault_chain_markers": check_chain_markers,
    "fault_late_state": check_late_state,
    "fault_left_image": check_left_image,
}


def main(names):
    return fresh.attempt_all("script/made", CHECKS, names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
