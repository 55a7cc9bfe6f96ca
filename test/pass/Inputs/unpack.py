# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Print what frames of zstd in a file unpack to, by the library that teeperf has as well."""
import ctypes
import sys

zstd = ctypes.CDLL("libzstd.so.1")
zstd.ZSTD_findFrameCompressedSize.restype = ctypes.c_size_t
zstd.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
zstd.ZSTD_decompress.restype = ctypes.c_size_t
data = open(sys.argv[1], "rb").read()
while data:
    size = ctypes.c_size_t(len(data))
    frame = zstd.ZSTD_findFrameCompressedSize(data, size)
    if frame > len(data):
        sys.exit("no frame of zstd")
    unpacked = zstd.ZSTD_getFrameContentSize(data, size)
    text = ctypes.create_string_buffer(unpacked)
    if zstd.ZSTD_decompress(text, ctypes.c_size_t(unpacked), data,
                            ctypes.c_size_t(frame)) != unpacked:
        sys.exit("a damaged frame of zstd")
    sys.stdout.buffer.write(text.raw)
    data = data[frame:]
