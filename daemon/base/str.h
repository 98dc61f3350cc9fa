/* SPDX-License-Identifier: GPL-2.0-or-later */
/* str.h - strings: bounded copies, UTF-8, escaping for output, durations.  Thread-safe. */
#ifndef SCHEDD_BASE_STR_H
#define SCHEDD_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies with a terminating NUL; -ENAMETOOLONG (dst untouched) when it does not fit. */
int str_copy(char *dst, size_t size, const char *src);

bool str_is_utf8(const char *s);       /* valid UTF-8, no overlong forms, no surrogates */
bool str_has_control(const char *s);   /* a byte below 0x20, or 0x7f */

/*
 * For logs, tables and error texts: control characters, backslash and invalid
 * UTF-8 become \xNN, and the result is cut with "..." to fit size (128 for logs).
 * Returns dst.
 */
char *str_escape(char *dst, size_t size, const char *src);

/*
 * A duration as in systemd.time(7) ("1min 30s", "500us", "2h") or Go ("1m30s",
 * "1.5s"); "0" needs no unit, any other number does ("us" and "µs" are equal,
 * "m" and "min" are minutes).  -EINVAL when it is none, -ERANGE above 2^63 ns.
 */
int str_parse_duration_ns(const char *s, uint64_t *ret_ns);

/* Shortest exact form: "0", "5us", "1ms", "1.5s", "30min", "2h"; returns dst (32 bytes are enough). */
char *str_format_duration_ns(char *dst, size_t size, uint64_t ns);

/* Whole string, base 10, no sign, no blank; -EINVAL or -ERANGE (above max). */
int str_parse_u64(const char *s, uint64_t max, uint64_t *ret_value);

#endif
