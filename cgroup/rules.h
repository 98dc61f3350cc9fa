/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rules.h - config rules: cgroup path -> class name, with the reason
 *
 * Pure.  Globs: "*" and "?" within one component, "**" any number of whole
 * components ("/batch.slice/" + "**" is everything below, not batch.slice itself), "[...]" sets.
 * Of several rules that match one path the last in order of reading wins.
 */
#ifndef SCHEDD_CGROUP_RULES_H
#define SCHEDD_CGROUP_RULES_H

#include <stdbool.h>
#include <stddef.h>

struct cgroup_rule {
	char *cgroup_glob;  /* "/batch.slice/" + "**" */
	char *class_name;
	char *origin;       /* "file:line", for explain and errors */
};

/* -EINVAL: not absolute, empty component, unbalanced "[", "**" beside other characters, too long. */
int cgroup_rule_glob_check(const char *glob);
bool cgroup_rule_glob_match(const char *glob, const char *path);

/* Index of the winner or -1; all further matches, weaker ones, by calling again with `before` = result. */
int cgroup_rules_match(const struct cgroup_rule *rules, size_t nr_rules, const char *path, size_t before);

#endif
