/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rules.c - config rules: cgroup path -> class name, with the reason
 *
 * The matcher goes back to the last "*" (inside a component) or the last "**"
 * (among components) only.  An earlier star never has to take more: whatever it
 * gave up, a later one can take.  So the time is bounded by the product of the
 * two lengths, whatever the glob.
 */
#include "cgroup/rules.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

enum { GLOB_MAX = 4095 };

/* A component: not NUL-terminated. */
struct span {
	const char *at, *end;
};

/*
 * The next character of UTF-8; a byte that starts none is a character of its
 * own, outside Unicode, so that it equals itself only.
 */
static uint32_t next_char(const char **at, const char *end)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)*at;
	int n = p[0] < 0x80 ? 1 : p[0] >= 0xf0 && p[0] < 0xf8 ? 4 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3 :
		p[0] >= 0xc0 && p[0] < 0xe0 ? 2 : 0;
	uint32_t c = n == 1 ? p[0] : n == 2 ? p[0] & 0x1f : n == 3 ? p[0] & 0x0f : p[0] & 0x07;

	for (int i = 1; n && i < n; i++) {
		if (*at + i >= end || (p[i] & 0xc0) != 0x80)
			n = 0;
		else
			c = c << 6 | (p[i] & 0x3f);
	}
	if (!n || c < least[n]) {
		*at += 1;
		return UINT32_C(0x110000) + p[0];
	}
	*at += n;
	return c;
}

/* Where the set that starts at `[` ends (behind `]`); NULL: it does not. */
static const char *set_end(const char *at, const char *end)
{
	at++;
	if (at < end && (*at == '!' || *at == '^'))
		at++;
	if (at < end && *at == ']')
		at++;
	while (at < end && *at != ']')
		at++;
	return at < end ? at + 1 : NULL;
}

/* set is the whole "[...]". */
static bool set_has(struct span set, uint32_t c)
{
	const char *at = set.at + 1, *end = set.end - 1;
	bool negated = at < end && (*at == '!' || *at == '^'), found = false;

	at += negated;
	while (at < end) {
		uint32_t low = next_char(&at, end), high = low;

		if (at + 1 < end && *at == '-') {
			at++;
			high = next_char(&at, end);
		}
		found |= c >= low && c <= high;
	}
	return found != negated;
}

/* One step of glob that is not "*" against the character at *name; both move on when it fits. */
static bool step(const char **glob, const char *glob_end, const char **name, const char *name_end)
{
	const char *close;
	uint32_t c, g;

	if (*glob >= glob_end || *name >= name_end)
		return false;
	c = next_char(name, name_end);
	if (**glob == '[' && (close = set_end(*glob, glob_end))) {
		struct span set = { *glob, close };

		*glob = close;
		return set_has(set, c);
	}
	g = next_char(glob, glob_end);
	return g == '?' || g == c;
}

static bool component_match(struct span glob, struct span name)
{
	const char *retry_glob = NULL, *retry_name = NULL;

	while (name.at < name.end) {
		const char *g = glob.at, *n = name.at;

		if (g < glob.end && *g == '*') {
			retry_glob = glob.at = g + 1;
			retry_name = n;
		} else if (step(&g, glob.end, &n, name.end)) {
			glob.at = g;
			name.at = n;
		} else if (retry_glob) {
			next_char(&retry_name, name.end);
			glob.at = retry_glob;
			name.at = retry_name;
		} else {
			return false;
		}
	}
	while (glob.at < glob.end && *glob.at == '*')
		glob.at++;
	return glob.at == glob.end;
}

/* The component at *at ("/x/y" -> "x"); *at moves to the next "/" or the end. */
static struct span next_component(const char **at)
{
	struct span s = { .at = *at + 1 };

	s.end = s.at + strcspn(s.at, "/");
	*at = s.end;
	return s;
}

static bool is_any_depth(struct span s)
{
	return s.end - s.at == 2 && memcmp(s.at, "**", 2) == 0;
}

bool cgroup_rule_glob_match(const char *glob, const char *path)
{
	const char *retry_glob = NULL, *retry_path = NULL;

	if (strcmp(path, "/") == 0 || strcmp(glob, "/") == 0)
		return strcmp(path, glob) == 0;
	while (*path) {
		const char *g = glob, *p = path;
		struct span part = *g ? next_component(&g) : (struct span){ g, g };

		if (*glob && is_any_depth(part)) {
			if (!*g)
				return true; /* last, and at least one component is left for it */
			glob = retry_glob = g;
			retry_path = path;
		} else if (*glob && component_match(part, next_component(&p))) {
			glob = g;
			path = p;
		} else if (retry_glob) {
			next_component(&retry_path);
			glob = retry_glob;
			path = retry_path;
		} else {
			return false;
		}
	}
	return !*glob;
}

static int component_check(struct span s)
{
	bool stars = s.end - s.at >= 2 && memmem(s.at, (size_t)(s.end - s.at), "**", 2);

	if (s.at == s.end)
		return -EINVAL;
	if (s.at[0] == '.' && (s.end - s.at == 1 || (s.at[1] == '.' && s.end - s.at == 2)))
		return -EINVAL;
	if (stars && !is_any_depth(s))
		return -EINVAL;
	while (s.at < s.end) {
		if (*s.at == '[') {
			s.at = set_end(s.at, s.end);
			if (!s.at)
				return -EINVAL;
		} else {
			s.at++;
		}
	}
	return 0;
}

int cgroup_rule_glob_check(const char *glob)
{
	if (glob[0] != '/' || strlen(glob) > GLOB_MAX)
		return -EINVAL;
	if (!glob[1])
		return 0;
	while (*glob) {
		int r = component_check(next_component(&glob));

		if (r < 0)
			return r;
	}
	return 0;
}

int cgroup_rules_match(const struct cgroup_rule *rules, size_t nr_rules, const char *path, size_t before)
{
	size_t i = before < nr_rules ? before : nr_rules;

	while (i-- > 0)
		if (cgroup_rule_glob_match(rules[i].cgroup_glob, path))
			return (int)i;
	return -1;
}
