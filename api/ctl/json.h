/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json.h - proto JSON of any message, from its descriptor
 *
 * camelCase names, 64-bit integers as strings, Duration, Timestamp, FieldMask
 * and wrappers in their own forms, enums by name, bytes as base64.  Fields at
 * their default are left out, as in every proto JSON writer.
 */
#ifndef SCHEDD_CTL_JSON_H
#define SCHEDD_CTL_JSON_H

#include <protobuf-c/protobuf-c.h>
#include <stdio.h>

/* A message with a final newline, indented by two blanks a level. */
void json_print_message(const ProtobufCMessage *message, FILE *out);

/* The same on one line: one message after the other makes a stream that line by line is JSON. */
void json_print_line(const ProtobufCMessage *message, FILE *out);

/* A string with its quotes; control characters (also 0x7f and U+0080 to U+009F) escaped, bad UTF-8 as U+FFFD. */
void json_print_string(const char *s, FILE *out);

#endif
