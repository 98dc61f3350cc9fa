/* SPDX-License-Identifier: GPL-2.0-or-later */
/* codec_check.c - the rules for single values of a request */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/codec_private.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"

enum { SHOWN_MAX = 128 }; /* bytes of a bad value that an error repeats */

bool check_refuse(struct reply *reply, const char *reason, const char *field, const char *format, ...)
{
	char text[512], shown[SHOWN_MAX];
	struct detail_view *detail;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	str_escape(shown, sizeof(shown), field);
	reply_fail(reply, COMMAND_INVALID_ARGUMENT, reason, "%s: %s", shown, text);
	detail = arena_new(&reply->arena, struct detail_view);
	if (!detail)
		return false;
	detail->field = arena_strdup(&reply->arena, shown);
	detail->description = arena_strdup(&reply->arena, text);
	if (detail->field && detail->description) {
		reply->details = detail;
		reply->nr_details = 1;
	}
	return false;
}

bool check_has_control(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	if (str_has_control(text))
		return true;
	for (; *s; s++)
		if (s[0] == 0xc2 && s[1] >= 0x80 && s[1] <= 0x9f)
			return true;
	return false;
}

/* ---------- all strings ---------- */

/* protobuf-c keeps no length: that of the allocation tells whether a NUL cut the string. */
static bool string_is_whole(const char *s)
{
	if (!s || s == protobuf_c_empty_string)
		return true;
	return codec_memory_size(s) == strlen(s) + 1;
}

static bool check_string(struct reply *reply, const char *path, const char *s)
{
	if (!s)
		return true;
	if (!string_is_whole(s))
		return check_refuse(reply, API_REASON_MALFORMED_REQUEST, path,
				    "contains a NUL byte; give plain UTF-8 text");
	if (!str_is_utf8(s))
		return check_refuse(reply, API_REASON_MALFORMED_REQUEST, path, "is not valid UTF-8");
	return true;
}

static bool check_strings_below(struct reply *reply, const char *prefix, const ProtobufCMessage *message);

static bool check_one(struct reply *reply, const char *path, const ProtobufCFieldDescriptor *field,
		      const void *at)
{
	const ProtobufCMessage *inner;

	if (field->type == PROTOBUF_C_TYPE_STRING)
		return check_string(reply, path, *(char *const *)at);
	inner = *(ProtobufCMessage *const *)at;
	return !inner || check_strings_below(reply, path, inner);
}

static bool check_field(struct reply *reply, const char *prefix, const ProtobufCMessage *message,
			const ProtobufCFieldDescriptor *field)
{
	const char *base = (const char *)message, *items;
	char path[SHOWN_MAX];
	size_t n, i;

	if (field->type != PROTOBUF_C_TYPE_STRING && field->type != PROTOBUF_C_TYPE_MESSAGE)
		return true;
	snprintf(path, sizeof(path), "%s%s%s", prefix, *prefix ? "." : "", field->name);
	if (field->label != PROTOBUF_C_LABEL_REPEATED) {
		if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) &&
		    *(const uint32_t *)(base + field->quantifier_offset) != field->id)
			return true;
		return check_one(reply, path, field, base + field->offset);
	}
	n = *(const size_t *)(base + field->quantifier_offset);
	items = *(const char *const *)(base + field->offset);
	for (i = 0; i < n; i++)
		if (!check_one(reply, path, field, items + i * sizeof(void *)))
			return false;
	return true;
}

/* Recursion ends because no message type contains itself; a unit test proves that of every descriptor. */
static bool check_strings_below(struct reply *reply, const char *prefix, const ProtobufCMessage *message)
{
	unsigned int i;

	for (i = 0; i < message->descriptor->n_fields; i++)
		if (!check_field(reply, prefix, message, &message->descriptor->fields[i]))
			return false;
	return true;
}

bool check_strings(struct reply *reply, const ProtobufCMessage *message)
{
	return check_strings_below(reply, "", message);
}

/* ---------- text ---------- */

bool check_text(struct reply *reply, const char *field, const char *text, size_t max)
{
	if (strlen(text) > max)
		return check_refuse(reply, REASON(INVALID_VALUE), field, "has %zu bytes, at most %zu are allowed",
				    strlen(text), max);
	if (check_has_control(text))
		return check_refuse(reply, REASON(INVALID_VALUE), field, "contains control characters");
	return true;
}

bool check_name(struct reply *reply, const char *field, const char *text, size_t max)
{
	if (!*text)
		return check_refuse(reply, REASON(INVALID_VALUE), field, "is required");
	return check_text(reply, field, text, max);
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool check_uuid(struct reply *reply, const char *field, char *text)
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	char shown[SHOWN_MAX];
	size_t i;

	for (i = 0; i < sizeof(form) - 1 && text[i]; i++) {
		if (text[i] >= 'A' && text[i] <= 'F')
			text[i] = (char)(text[i] - 'A' + 'a');
		if (form[i] == '-' ? text[i] != '-' : !is_hex(text[i]))
			break;
	}
	if (i == sizeof(form) - 1 && !text[i])
		return true;
	return check_refuse(reply, REASON(INVALID_VALUE), field,
			    "\"%s\" is not a UUID such as 1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b",
			    str_escape(shown, sizeof(shown), text));
}

bool check_hex(struct reply *reply, const char *field, const char *text, size_t min, size_t max)
{
	char shown[SHOWN_MAX];
	size_t n = 0;

	while (is_hex(text[n]))
		n++;
	if (!text[n] && n >= min && n <= max)
		return true;
	return check_refuse(reply, REASON(INVALID_VALUE), field,
			    "\"%s\" is not %zu to %zu hexadecimal digits in lower case",
			    str_escape(shown, sizeof(shown), text), min, max);
}

/* ---------- paths, units, classes ---------- */

static const char *path_fault(const char *path)
{
	const char *part, *end;
	size_t n;

	if (*path != '/')
		return "must start with \"/\", the root of the cgroup2 mount";
	if (strlen(path) > CHECK_PATH_MAX)
		return "is longer than 4095 bytes";
	if (check_has_control(path))
		return "contains control characters; name that cgroup by its id";
	if (!path[1])
		return NULL;
	for (part = path + 1;; part = end + 1) {
		end = strchrnul(part, '/');
		n = (size_t)(end - part);
		if (!n)
			return *end ? "has an empty component (\"//\")" : "ends with \"/\"; leave the last one out";
		if (n > 255)
			return "has a component longer than 255 bytes";
		if (part[0] == '.' && (n == 1 || (n == 2 && part[1] == '.')))
			return "must not contain \".\" or \"..\"";
		if (!*end)
			return NULL;
	}
}

bool check_path(struct reply *reply, const char *field, const char *path)
{
	const char *fault = path_fault(path);
	char shown[SHOWN_MAX];

	return !fault ||
	       check_refuse(reply, REASON(INVALID_PATH), field, "\"%s\" %s",
			    str_escape(shown, sizeof(shown), path), fault);
}

bool check_unit(struct reply *reply, const char *field, const char *unit)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-_.\\@";
	const char *dot = strrchr(unit, '.');
	char shown[SHOWN_MAX];

	if (!check_name(reply, field, unit, CHECK_UNIT_MAX))
		return false;
	if (unit[strspn(unit, allowed)] || !dot || dot == unit || !dot[1])
		return check_refuse(reply, REASON(INVALID_VALUE), field,
				    "\"%s\" is not a unit such as nginx.service or batch.slice",
				    str_escape(shown, sizeof(shown), unit));
	return true;
}

bool check_class_name(struct reply *reply, const char *field, const char *name, const char **ret_name)
{
	const char *canonical = class_name_canonical(name);
	char shown[SHOWN_MAX];

	if (!*name)
		return check_refuse(reply, REASON(INVALID_NAME), field, "is required");
	if (class_name_check(canonical))
		return check_refuse(reply, REASON(INVALID_NAME), field,
				    "\"%s\" is not a class name: 1 to 32 of a-z, 0-9 and \"-\", "
				    "a letter first, no \"-\" last",
				    str_escape(shown, sizeof(shown), name));
	*ret_name = canonical;
	return true;
}

/* ---------- numbers ---------- */

bool check_enum(struct reply *reply, const char *field, const ProtobufCEnumDescriptor *descriptor, int value)
{
	if (protobuf_c_enum_descriptor_get_value(descriptor, value))
		return true;
	return check_refuse(reply, REASON(INVALID_VALUE), field, "%d is not a value of %s", value, descriptor->name);
}

bool check_duration(struct reply *reply, const char *field, const Google__Protobuf__Duration *d, uint64_t min_ns,
		    uint64_t *ret_ns)
{
	const int64_t ns_per_s = 1000000000;
	char shown[32];
	uint64_t ns;

	if (d->seconds < 0 || d->nanos < 0)
		return check_refuse(reply, REASON(INVALID_VALUE), field, "must not be negative");
	if (d->nanos >= ns_per_s)
		return check_refuse(reply, REASON(INVALID_VALUE), field, "nanos is %d, at most 999999999 is allowed",
				    d->nanos);
	if (d->seconds >= INT64_MAX / ns_per_s)
		return check_refuse(reply, REASON(INVALID_VALUE), field, "is longer than 292 years");
	ns = (uint64_t)d->seconds * (uint64_t)ns_per_s + (uint64_t)d->nanos;
	if (ns < min_ns)
		return check_refuse(reply, REASON(INVALID_VALUE), field, "must be at least %s",
				    str_format_duration_ns(shown, sizeof(shown), min_ns));
	*ret_ns = ns;
	return true;
}

bool check_page(struct reply *reply, int32_t page_size, const char *page_token, struct command *cmd)
{
	if (page_size < 0)
		return check_refuse(reply, REASON(INVALID_VALUE), "page_size",
				    "is %d; 0 means %d, at most %d are given", page_size, CHECK_PAGE_DEFAULT,
				    CHECK_PAGE_MAX);
	if (!check_text(reply, "page_token", page_token, CHECK_TOKEN_MAX))
		return false;
	cmd->page_size = page_size == 0 ? CHECK_PAGE_DEFAULT : (uint32_t)page_size;
	if (cmd->page_size > CHECK_PAGE_MAX)
		cmd->page_size = CHECK_PAGE_MAX;
	cmd->page_token = page_token;
	return true;
}
