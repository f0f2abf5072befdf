"""What a copy of this process shares with it after a fork, and how the copy gets its own: descriptors and memory.

Shared memory is found in `/proc/self/maps`. macOS has no `/proc`: there it stays shared, like the position in a file.
"""

import contextlib
import ctypes
import errno
import mmap
import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

with contextlib.suppress(ImportError):  # Windows
    import fcntl

DESCRIPTORS = "/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"
_KEPT = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
COPIED = 32 << 20
"""Bytes of shared memory that are always copied. Larger files are only mapped again, which takes no time."""
LIMIT = 512 << 20
"""Bytes of shared memory that are copied at most."""
_DEVICE = re.compile(r"/dev/(?!shm/|zero\b|hugepages/)|/dmabuf")
_MAP_FIXED = 0x10
_map: Any = None
_write: Any = None
if sys.platform == "linux":  # before the fork: in the copy, another thread may have held the loader's lock
    _libc = ctypes.CDLL(None, use_errno=True)
    _map, _write = _libc.mmap, _libc.write
    _map.restype, _write.restype = ctypes.c_void_p, ctypes.c_ssize_t
    _map.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_ssize_t]
    _write.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]


@dataclass(frozen=True, slots=True, order=True)
class _Memory:
    """A shared mapping of this process that is writable."""

    size: int
    start: int
    protection: int
    offset: int
    inode: int
    name: str

    def opened(self) -> int | None:
        """A descriptor of the file that is mapped. It may have been deleted, or replaced by another of its name."""
        numbers = (number for number in os.listdir(DESCRIPTORS) if link_of(number) == self.name)
        for path in (*(f"{DESCRIPTORS}/{number}" for number in numbers), self.name):
            with contextlib.suppress(OSError):
                file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
                if os.fstat(file).st_ino == self.inode:
                    return file
                os.close(file)
        return None

    def copied(self) -> int:
        """A descriptor of a new file in memory with the same contents."""
        file, done = os.memfd_create("agent_nb"), 0
        os.ftruncate(file, self.size)
        while done < self.size and (count := _write(file, self.start + done, self.size - done)) > 0:
            done += count
        if (
            done < self.size and ctypes.get_errno() != errno.EFAULT
        ):  # beyond the end of a file there is nothing
            raise OSError(ctypes.get_errno(), f"{self.name} could not be copied")
        return file

    def variable(self, variables: Mapping[str, Any]) -> str:
        """The name of the variable that uses it, else its own."""
        for name, value in variables.items():
            with contextlib.suppress(Exception):
                if 0 <= ctypes.addressof(ctypes.c_char.from_buffer(value)) - self.start < self.size:
                    return name
        return self.name


def _shared() -> Iterator[_Memory]:
    with (
        contextlib.suppress(OSError),
        open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as lines,
    ):
        for line in lines:
            span, rights, offset, _, inode, *name = line.rstrip("\n").split(maxsplit=5)
            if rights[1] == "w" and rights[3] == "s":
                start, end = (int(part, 16) for part in span.split("-"))
                protection = sum(1 << bit for bit in range(3) if rights[bit] != "-")
                yield _Memory(end - start, start, protection, int(offset, 16), int(inode), "".join(name))


def shared_devices() -> list[str]:
    """Devices, such as GPUs, whose memory this process has mapped: a copy cannot have its own."""
    return sorted({memory.name for memory in _shared() if _DEVICE.match(memory.name)})


def _separable() -> Iterator[tuple[_Memory, int | None]]:
    """Shared memory without that of devices, with a descriptor of its file, or None if it is to be copied."""
    copied = 0
    for memory in sorted(_shared()):
        if not _DEVICE.match(memory.name):
            copied += memory.size
            yield memory, None if copied <= COPIED else memory.opened()


def check_memory(variables: Mapping[str, Any]) -> None:
    """Raise `OSError` if a copy could not have its own of all shared memory."""
    total = 0
    for memory, file in _separable():
        if file is not None:
            os.close(file)
        elif (total := total + memory.size) > LIMIT:
            name = memory.variable(variables)
            limit = f"more than the {LIMIT >> 20} MB that a branch can copy"
            raise OSError(f"shared memory, such as `{name}`, has {limit}: run it without `--branch`")


def separate_memory() -> None:
    """Give this process its own of all shared memory, at the same addresses.

    Files are mapped privately. A copy is shared with the processes that this one will start, so that locks work there.
    """
    for memory, opened in [*_separable()]:
        file = memory.copied() if opened is None else opened
        flags, offset = (mmap.MAP_SHARED, 0) if opened is None else (mmap.MAP_PRIVATE, memory.offset)
        place = _map(memory.start, memory.size, memory.protection, flags | _MAP_FIXED, file, offset)
        os.close(file)
        if place != memory.start:
            raise OSError(ctypes.get_errno(), f"{memory.name} could not be mapped")


def cut_connections(kept: int) -> None:
    """Redirect descriptors to the null device but those of files, folders and `_KEPT`. Objects still use their numbers.

    An event poll, for example, is shared with the session: removing a descriptor there would remove it for both.
    """
    nowhere = os.open(os.devnull, os.O_RDWR)
    devices = {os.stat(path).st_rdev for path in _KEPT if os.path.exists(path)}
    for number in map(int, os.listdir(DESCRIPTORS)):
        with contextlib.suppress(OSError):
            status = os.fstat(number)
            is_file = stat.S_ISREG(status.st_mode) and not link_of(number).startswith("anon_inode:")
            is_kept = stat.S_ISCHR(status.st_mode) and status.st_rdev in devices
            if number == 0 or not (is_file or is_kept or stat.S_ISDIR(status.st_mode) or number == kept):
                os.dup2(nowhere, number, inheritable=number == 0)
            elif is_file:
                _separate(number)
    os.close(nowhere)


def _separate(number: int) -> None:
    """Open a file again, so that its position is no longer that of the session; macOS has no way to do this."""
    own = os.open(f"{DESCRIPTORS}/{number}", fcntl.fcntl(number, fcntl.F_GETFL))
    os.lseek(own, os.lseek(number, 0, os.SEEK_CUR), os.SEEK_SET)
    os.dup2(own, number, inheritable=os.get_inheritable(number))
    os.close(own)


def link_of(number: int | str) -> str:
    """What a descriptor of this process leads to; empty if unknown."""
    try:
        return os.readlink(f"{DESCRIPTORS}/{number}")
    except OSError:
        return ""
