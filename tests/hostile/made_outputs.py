# SPDX-License-Identifier: Apache-2.0
"""The checks "outputs" of run_opens.py: modes of the files that dump --aux, convert and recover make, and names that are links or
already exist."""
import os
import shutil
import stat
import struct

import harness
import named_recording


SECONDS = 20


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)


def aux_stream():
    """AUX area data of two buffers."""
    made = b"PERFILE2" + struct.pack("<Q", 16)
    made += named_recording.record(64, named_recording.attr(1, 0) + struct.pack("<Q", 1))
    for index in (0, 1, 0):
        made += named_recording.record(71, struct.pack("<QQQIIII", 64, 0, 0, index, 7, 0, 0))
        made += bytes([0x41 + index]) * 64
    return made


def dump_aux(folder, target, umask=0):
    source = os.path.join(folder, "aux.data")
    write(source, aux_stream())
    return harness.perfray("dump", "--aux", target, source, timeout=SECONDS, umask=umask)


def check_modes(folder, umask):
    target = os.path.join(folder, "modes-%o" % umask)
    done = dump_aux(folder, target, umask)
    if done.returncode != 0:
        yield "status %d: %s" % (done.returncode, done.stderr)
        return
    files = [os.path.join(target, name) for name in sorted(os.listdir(target))]
    if len(files) != 2:
        yield "files: %s" % files
    for path, wanted in [(target, 0o700)] + [(path, 0o600) for path in files]:
        mode = stat.S_IMODE(os.lstat(path).st_mode)
        if mode != wanted & ~umask:
            yield "%s has mode %o" % (os.path.basename(path), mode)


def check_planted(folder, name, plant):
    """If the name of the second file exists, that is an error, and neither it nor its link target is changed."""
    target, victim = os.path.join(folder, "planted-" + name), os.path.join(folder, "victim-" + name)
    os.mkdir(target)
    write(victim, b"precious")
    path = os.path.join(target, "aux-1-7-0.bin")
    plant(victim, path)
    before = os.lstat(path)
    done = dump_aux(folder, target)
    if done.returncode != 5 or path.split("/")[-1].encode() not in done.stderr:
        yield "status %d: %s" % (done.returncode, done.stderr)
    if done.stdout:
        yield "a table is printed: %r" % done.stdout
    after = os.lstat(path)
    if (before.st_ino, before.st_size, before.st_mode) != (after.st_ino, after.st_size, after.st_mode):
        yield "what was there is another file now"
    with open(victim, "rb") as file:
        if file.read() != b"precious":
            yield "what it leads to was written"
    if os.listdir(target) != ["aux-1-7-0.bin"]:
        yield "left behind: %s" % os.listdir(target)


def check_dangling(folder):
    """Writing through a dangling symbolic link would make the file to which it points."""
    target, away = os.path.join(folder, "dangling"), os.path.join(folder, "made-elsewhere")
    os.mkdir(target)
    os.symlink(away, os.path.join(target, "aux-0-7-0.bin"))
    done = dump_aux(folder, target)
    if done.returncode != 5:
        yield "status %d: %s" % (done.returncode, done.stderr)
    if os.path.lexists(away):
        yield "a file was made through the link"


def edit(folder, words, target, umask=0):
    source = os.path.join(folder, "edit.data")
    write(source, named_recording.make_file(lambda field, room: b"x"))
    return harness.perfray(*words, source, "-o", target, timeout=SECONDS, umask=umask)


def check_edit_modes(folder, umask):
    for words, directory in ((["convert"], False), (["recover"], False), (["convert", "--to=directory"], True)):
        target = os.path.join(folder, "edit-%o-%s" % (umask, words[-1]))
        done = edit(folder, words, target, umask)
        names = [target] + [os.path.join(target, name) for name in (os.listdir(target) if directory else ())]
        if done.returncode not in (0, 4) or (directory and len(names) < 3):
            yield "%s: status %d, %s" % (" ".join(words), done.returncode, done.stderr)
        for name in names:
            mode, wanted = stat.S_IMODE(os.lstat(name).st_mode), 0o700 if os.path.isdir(name) else 0o600
            if mode != wanted & ~umask:
                yield "%s has mode %o" % (name, mode)


def check_edit_planted(folder, name, plant):
    """An output name that is a link or device is refused, and its target is not changed."""
    target, victim = os.path.join(folder, "edit-planted-" + name), os.path.join(folder, "edit-victim-" + name)
    write(victim, b"precious")
    plant(victim, target)
    before = os.lstat(target)
    for words in (["convert"], ["recover"], ["convert", "--to=directory"]):
        done = edit(folder, words, target)
        if done.returncode != 2 or os.path.basename(target).encode() not in done.stderr:
            yield "%s: status %d, %s" % (" ".join(words), done.returncode, done.stderr)
    after = os.lstat(target)
    if (before.st_ino, before.st_size, before.st_mode) != (after.st_ino, after.st_size, after.st_mode):
        yield "what was there is another file now"
    with open(victim, "rb") as file:
        if file.read() != b"precious":
            yield "what it leads to was written"


def check_outputs(folder):
    for umask in (0, 0o022, 0o077):
        yield "edit-mode-%03o" % umask, check_edit_modes(folder, umask)
    yield "edit-link", check_edit_planted(folder, "link", os.symlink)
    yield "edit-fifo", check_edit_planted(folder, "fifo", lambda victim, path: os.mkfifo(path))
    for umask in (0, 0o022, 0o077, 0o777):
        if umask != 0o777 or os.geteuid() == 0:  # without these rights, even our folder cannot be entered
            yield "mode-%03o" % umask, check_modes(folder, umask)
    yield "file", check_planted(folder, "file", shutil.copy)
    yield "link", check_planted(folder, "link", os.symlink)
    yield "hard-link", check_planted(folder, "hard-link", os.link)
    yield "fifo", check_planted(folder, "fifo", lambda victim, path: os.mkfifo(path))
    yield "dangling-link", check_dangling(folder)
