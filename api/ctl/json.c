// SPDX-License-Identifier: GPL-2.0-or-later
/* json.c - proto JSON of any message, from its descriptor */
#include "api/ctl/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/base/cleanup.h"

/* A depth below 0 means no line breaks; so far below that what is inside is below 0 too. */
enum { INDENT = 2, NANOS_PER_S = 1000000000, ONE_LINE = -1000000 };

static void print_value(const ProtobufCFieldDescriptor *f, const void *value, int depth, FILE *out);

static const void *member(const ProtobufCMessage *m, size_t offset)
{
	return (const char *)m + offset;
}

/* Well-known types are recognised by name, so their fields are found by number, not by generated structs. */
static const void *field_at(const ProtobufCMessage *m, unsigned int number)
{
	const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field(m->descriptor, number);

	return f ? member(m, f->offset) : NULL;
}

/* ---------- scalars ---------- */

/* Length of one well-formed character, 0 when the bytes are none; *ret_code is the code point. */
static size_t utf8_length(const unsigned char *s, uint32_t *ret_code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = *s < 0x80 ? 1 : (*s & 0xe0) == 0xc0 ? 2 : (*s & 0xf0) == 0xe0 ? 3 : (*s & 0xf8) == 0xf0 ? 4 : 0;
	uint32_t code;
	size_t i;

	if (!n)
		return 0;
	code = n == 1 ? *s : *s & (0x7fu >> n);
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (n > 1 && (code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)))
		return 0;
	*ret_code = code;
	return n;
}

void json_print_string(const char *string, FILE *out)
{
	const unsigned char *s = (const unsigned char *)string;
	uint32_t code;
	size_t n;

	fputc('"', out);
	while (*s) {
		n = utf8_length(s, &code);
		if (!n) {
			fputs("\xef\xbf\xbd", out);
			s++;
			continue;
		}
		if (code == '"' || code == '\\')
			fprintf(out, "\\%c", (int)code);
		else if (code == '\n')
			fputs("\\n", out);
		else if (code == '\t')
			fputs("\\t", out);
		else if (code < 0x20 || (code >= 0x7f && code < 0xa0))
			fprintf(out, "\\u%04x", code);
		else
			fwrite(s, 1, n, out);
		s += n;
	}
	fputc('"', out);
}

static void print_bytes(const ProtobufCBinaryData *b, FILE *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t i;

	fputc('"', out);
	for (i = 0; i < b->len; i += 3) {
		size_t left = b->len - i;
		uint32_t v = (uint32_t)b->data[i] << 16;

		v |= left > 1 ? (uint32_t)b->data[i + 1] << 8 : 0;
		v |= left > 2 ? b->data[i + 2] : 0;
		fputc(digits[v >> 18], out);
		fputc(digits[v >> 12 & 63], out);
		fputc(left > 1 ? digits[v >> 6 & 63] : '=', out);
		fputc(left > 2 ? digits[v & 63] : '=', out);
	}
	fputc('"', out);
}

static void print_double(double d, int digits, FILE *out)
{
	if (isnan(d))
		fputs("\"NaN\"", out);
	else if (isinf(d))
		fputs(d > 0 ? "\"Infinity\"" : "\"-Infinity\"", out);
	else
		fprintf(out, "%.*g", digits, d);
}

static void print_enum(const ProtobufCEnumDescriptor *type, int value, FILE *out)
{
	const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value(type, value);

	if (v)
		json_print_string(v->name, out);
	else
		fprintf(out, "%d", value);
}

/* Fractions have 3, 6 or 9 digits, as the proto JSON mapping wants. */
static void print_nanos(int32_t nanos, FILE *out)
{
	if (!nanos)
		return;
	if (nanos % 1000000 == 0)
		fprintf(out, ".%03d", nanos / 1000000);
	else if (nanos % 1000 == 0)
		fprintf(out, ".%06d", nanos / 1000);
	else
		fprintf(out, ".%09d", nanos);
}

/* ---------- messages with a form of their own ---------- */

static void print_duration(const ProtobufCMessage *m, int depth, FILE *out)
{
	const int64_t *seconds = field_at(m, 1);
	const int32_t *nanos = field_at(m, 2);

	(void)depth;
	fprintf(out, "\"%s%" PRIu64, *seconds < 0 || *nanos < 0 ? "-" : "",
		*seconds < 0 ? -(uint64_t)*seconds : (uint64_t)*seconds);
	print_nanos(abs(*nanos), out);
	fputs("s\"", out);
}

static void print_timestamp(const ProtobufCMessage *m, int depth, FILE *out)
{
	const int64_t *seconds = field_at(m, 1);
	const int32_t *nanos = field_at(m, 2);
	time_t t = (time_t)*seconds;
	struct tm tm;
	char text[64];

	(void)depth;
	if (!gmtime_r(&t, &tm) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm)) {
		fputs("null", out);
		return;
	}
	fprintf(out, "\"%s", text);
	print_nanos(*nanos, out);
	fputs("Z\"", out);
}

/* "guarantee_cpus" -> guaranteeCpus */
static void print_camel(const char *name, FILE *out)
{
	for (; *name; name++) {
		if (name[0] == '_' && name[1] >= 'a' && name[1] <= 'z')
			fputc(*++name - 'a' + 'A', out);
		else if (*name != '_')
			fputc(*name, out);
	}
}

static void print_field_mask(const ProtobufCMessage *m, int depth, FILE *out)
{
	const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field(m->descriptor, 1);
	size_t n = *(const size_t *)member(m, f->quantifier_offset), i;
	char *const *paths = *(char *const *const *)member(m, f->offset);

	(void)depth;
	fputc('"', out);
	for (i = 0; i < n; i++) {
		fputs(i ? "," : "", out);
		print_camel(paths[i], out);
	}
	fputc('"', out);
}

static void print_wrapper(const ProtobufCMessage *m, int depth, FILE *out)
{
	const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field(m->descriptor, 1);

	print_value(f, member(m, f->offset), depth, out);
}

static const struct {
	const char *name;
	void (*print)(const ProtobufCMessage *m, int depth, FILE *out);
} well_known[] = {
	{ "google.protobuf.Duration", print_duration },	   { "google.protobuf.Timestamp", print_timestamp },
	{ "google.protobuf.FieldMask", print_field_mask }, { "google.protobuf.DoubleValue", print_wrapper },
	{ "google.protobuf.FloatValue", print_wrapper },   { "google.protobuf.Int64Value", print_wrapper },
	{ "google.protobuf.UInt64Value", print_wrapper },  { "google.protobuf.Int32Value", print_wrapper },
	{ "google.protobuf.UInt32Value", print_wrapper },  { "google.protobuf.BoolValue", print_wrapper },
	{ "google.protobuf.StringValue", print_wrapper },  { "google.protobuf.BytesValue", print_wrapper },
};

/* ---------- any message ---------- */

static size_t type_size(ProtobufCType type)
{
	switch (type) {
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
	case PROTOBUF_C_TYPE_DOUBLE:
		return 8;
	case PROTOBUF_C_TYPE_BOOL:
		return sizeof(protobuf_c_boolean);
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_MESSAGE:
		return sizeof(void *);
	case PROTOBUF_C_TYPE_BYTES:
		return sizeof(ProtobufCBinaryData);
	default:
		return 4;
	}
}

/* A singular field that proto3 would not put on the wire. */
static bool is_default(const ProtobufCFieldDescriptor *f, const void *value)
{
	static const char zero[sizeof(uint64_t)];
	const char *s;

	switch (f->type) {
	case PROTOBUF_C_TYPE_STRING:
		s = *(char *const *)value;
		return !s || !*s;
	case PROTOBUF_C_TYPE_MESSAGE:
		return !*(void *const *)value;
	case PROTOBUF_C_TYPE_BYTES:
		return !((const ProtobufCBinaryData *)value)->len;
	default:
		return !memcmp(value, zero, type_size(f->type));
	}
}

static bool is_present(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
	const void *quantifier = member(m, f->quantifier_offset);

	if (f->label == PROTOBUF_C_LABEL_REPEATED)
		return *(const size_t *)quantifier > 0;
	if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) /* chosen counts, whatever the value */
		return *(const uint32_t *)quantifier == f->id;
	return !is_default(f, member(m, f->offset));
}

static void print_line_start(int depth, FILE *out)
{
	if (depth >= 0)
		fprintf(out, "\n%*s", depth * INDENT, "");
}

static void print_repeated(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f, int depth, FILE *out)
{
	size_t n = *(const size_t *)member(m, f->quantifier_offset), i;
	const char *values = *(char *const *)member(m, f->offset);

	fputc('[', out);
	for (i = 0; i < n; i++) {
		fputs(i ? "," : "", out);
		print_line_start(depth + 1, out);
		print_value(f, values + i * type_size(f->type), depth + 1, out);
	}
	print_line_start(depth, out);
	fputc(']', out);
}

static void print_fields(const ProtobufCMessage *m, int depth, FILE *out)
{
	const ProtobufCMessageDescriptor *type = m->descriptor;
	bool first = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(well_known); i++)
		if (!strcmp(type->name, well_known[i].name)) {
			well_known[i].print(m, depth, out);
			return;
		}
	fputc('{', out);
	for (i = 0; i < type->n_fields; i++) {
		const ProtobufCFieldDescriptor *f = &type->fields[i];

		if (!is_present(m, f))
			continue;
		fputs(first ? "" : ",", out);
		first = false;
		print_line_start(depth + 1, out);
		fputc('"', out);
		print_camel(f->name, out);
		fputs("\": ", out);
		if (f->label == PROTOBUF_C_LABEL_REPEATED)
			print_repeated(m, f, depth + 1, out);
		else
			print_value(f, member(m, f->offset), depth + 1, out);
	}
	if (!first)
		print_line_start(depth, out);
	fputc('}', out);
}

static void print_value(const ProtobufCFieldDescriptor *f, const void *value, int depth, FILE *out)
{
	switch (f->type) {
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_SFIXED32:
		fprintf(out, "%" PRId32, *(const int32_t *)value);
		break;
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32:
		fprintf(out, "%" PRIu32, *(const uint32_t *)value);
		break;
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
		fprintf(out, "\"%" PRId64 "\"", *(const int64_t *)value);
		break;
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
		fprintf(out, "\"%" PRIu64 "\"", *(const uint64_t *)value);
		break;
	case PROTOBUF_C_TYPE_FLOAT:
		print_double((double)*(const float *)value, 9, out);
		break;
	case PROTOBUF_C_TYPE_DOUBLE:
		print_double(*(const double *)value, 17, out);
		break;
	case PROTOBUF_C_TYPE_BOOL:
		fputs(*(const protobuf_c_boolean *)value ? "true" : "false", out);
		break;
	case PROTOBUF_C_TYPE_ENUM:
		print_enum(f->descriptor, *(const int *)value, out);
		break;
	case PROTOBUF_C_TYPE_STRING:
		json_print_string(*(char *const *)value ? *(char *const *)value : "", out);
		break;
	case PROTOBUF_C_TYPE_BYTES:
		print_bytes(value, out);
		break;
	case PROTOBUF_C_TYPE_MESSAGE:
		if (*(ProtobufCMessage *const *)value)
			print_fields(*(ProtobufCMessage *const *)value, depth, out);
		else /* a chosen oneof member without content */
			fputs("{}", out);
		break;
	}
}

void json_print_message(const ProtobufCMessage *message, FILE *out)
{
	print_fields(message, 0, out);
	fputc('\n', out);
}

void json_print_line(const ProtobufCMessage *message, FILE *out)
{
	print_fields(message, ONE_LINE, out);
	fputc('\n', out);
}
