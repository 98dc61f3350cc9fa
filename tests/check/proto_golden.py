#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""proto_golden.py - fails when the published interface breaks somebody who uses it

The interface is written down in proto.golden, one line for each method, field
and enum value.  A line that vanished or changed is a breaking change; a new
line is not, but it must be written down too: proto_golden.py --update.

usage: proto_golden.py [--update]      (protoc and python3-protobuf)
"""

import os
import subprocess
import sys
import tempfile

from google.protobuf import descriptor_pb2

HERE = os.path.dirname(os.path.abspath(__file__))
PROTO = os.path.join(HERE, "..", "..", "proto")
GOLDEN = os.path.join(HERE, "proto.golden")
INTERNAL = "schedd/internal/"   # not published
Field = descriptor_pb2.FieldDescriptorProto

HEADER = """\
# The published interface, one line for each method, field and enum value.
# Written by proto_golden.py --update.  Removing or changing a line breaks clients.
"""


def compile_protos():
    names = []
    for base, _, files in os.walk(PROTO):
        names += [os.path.relpath(os.path.join(base, f), PROTO) for f in files if f.endswith(".proto")]
    with tempfile.TemporaryDirectory() as out_dir:
        out = os.path.join(out_dir, "set")
        subprocess.run(["protoc", "-I" + PROTO, "-I/usr/include", "--descriptor_set_out=" + out, *sorted(names)],
                       check=True)
        with open(out, "rb") as f:
            return descriptor_pb2.FileDescriptorSet.FromString(f.read())


def type_name(field):
    return field.type_name.lstrip(".") or Field.Type.Name(field.type)[len("TYPE_"):].lower()


def message_lines(prefix, message):
    name = f"{prefix}.{message.name}"
    yield f"message {name}"
    for f in message.field:
        label = "repeated " if f.label == Field.LABEL_REPEATED else ""
        oneof = f" oneof {message.oneof_decl[f.oneof_index].name}" if f.HasField("oneof_index") else ""
        yield f"field {name}.{f.name} = {f.number} {label}{type_name(f)}{oneof}"
    for inner in message.nested_type:
        yield from message_lines(name, inner)
    for enum in message.enum_type:
        yield from enum_lines(name, enum)


def enum_lines(prefix, enum):
    for value in enum.value:
        yield f"value {prefix}.{enum.name}.{value.name} = {value.number}"


def service_lines(package, service):
    for m in service.method:
        take = "stream " if m.client_streaming else ""
        give = "stream " if m.server_streaming else ""
        yield (f"method {package}.{service.name}.{m.name} "
               f"{take}{m.input_type.lstrip('.')} -> {give}{m.output_type.lstrip('.')}")


def describe(file_set):
    lines = set()
    for file in file_set.file:
        if file.name.startswith(INTERNAL):
            continue
        for message in file.message_type:
            lines.update(message_lines(file.package, message))
        for enum in file.enum_type:
            lines.update(enum_lines(file.package, enum))
        for service in file.service:
            lines.update(service_lines(file.package, service))
    return lines


def read_golden():
    with open(GOLDEN, encoding="utf-8") as f:
        return {line.rstrip("\n") for line in f if line.strip() and not line.startswith("#")}


def main():
    now = describe(compile_protos())
    if "--update" in sys.argv[1:]:
        with open(GOLDEN, "w", encoding="utf-8") as f:
            f.write(HEADER + "\n".join(sorted(now)) + "\n")
        return 0
    golden = read_golden()
    for line in sorted(golden - now):
        print(f"# breaking: removed or changed: {line}")
    for line in sorted(now - golden):
        print(f"# not written down, run tests/check/proto_golden.py --update: {line}")
    print("TAP version 13\n1..2")
    print(("not " if golden - now else "") + "ok 1 - nothing published was removed, renumbered or retyped")
    print(("not " if now - golden else "") + "ok 2 - everything published is in proto.golden")
    return 1 if golden != now else 0


if __name__ == "__main__":
    sys.exit(main())
