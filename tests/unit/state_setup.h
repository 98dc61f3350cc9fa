/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state_setup.h - a model of 8 CPUs with a root for each test, and short ways to change it */
#ifndef SCHEDD_TEST_STATE_SETUP_H
#define SCHEDD_TEST_STATE_SETUP_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/state_fixture.h"

enum { CPUS = 8 };

static char error[256];

static inline int set_up(void **state)
{
	struct state *s = NULL;

	error[0] = '\0';
	if (state_new(CPUS, &s) < 0)
		return -1;
	grow(s, "/", 1);
	*state = s;
	return 0;
}

static inline int tear_down(void **state)
{
	state_free(*state);
	return 0;
}

static inline struct class_settings settings(uint32_t set, uint32_t kind, uint32_t guarantee, uint32_t burst)
{
	return (struct class_settings){ .set = set, .kind = kind, .guarantee_cpus = guarantee, .burst_cpus = burst };
}

static inline int upsert(struct state *s, const char *name, uint32_t set, uint32_t kind, uint32_t guarantee)
{
	struct class_settings c = settings(set, kind, guarantee, 0);

	return state_upsert_class(s, name, &c, 0, false, NULL, error, sizeof(error));
}

static inline int new_class(struct state *s, const char *name, uint32_t kind)
{
	return upsert(s, name, CLASS_FIELD_KIND, kind, 0);
}

static inline struct state_assignment *assign(struct state *s, struct cgroup_node *node, const char *class_name,
					      bool subtree, enum command_lifetime lifetime)
{
	char path[4096];
	struct state_assignment a = { .target_type = TARGET_PATH,
				      .target_text = path,
				      .cgroup_id = node->id,
				      .whole_subtree = subtree,
				      .lifetime = lifetime,
				      .create_realtime_ns = 1000000 },
				*stored = NULL;

	assert_int_equal(cgroup_node_path(node, path, sizeof(path)), 0);
	strcpy(a.class_name, class_name);
	assert_int_equal(state_set_assignment(s, &a, &stored), 0);
	state_classify(s, node, NULL, NULL);
	return stored;
}

static inline void unassign(struct state *s, struct state_assignment *a)
{
	struct cgroup_node *node = cgroup_tree_find_id(s->tree, a->cgroup_id);

	state_remove_assignment(s, (size_t)(a - s->assignments));
	state_classify(s, node, NULL, NULL);
}

static inline int configure(struct state *s, const struct state_config_class *classes, size_t nr_classes,
			    size_t nr_rules, const char *const (*pairs)[2])
{
	struct cgroup_rule *rules = make_rules(nr_rules, pairs);
	int r = state_set_config(s, classes, nr_classes, rules, nr_rules, error, sizeof(error));

	if (r < 0)
		drop_rules(rules, nr_rules);
	return r;
}

static inline const char *class_of(const struct state *s, const char *path)
{
	struct cgroup_node *n = cgroup_tree_find_path(s->tree, path);

	if (!n)
		fail_msg("no node %s", path);
	return s->classes[n->class_idx].name;
}

#define expect_class(s, path, name) assert_string_equal(class_of(s, path), name)

static inline const struct class_settings *effective(const struct state *s, const char *name)
{
	return &s->classes[state_find_class(s, name)].effective;
}

#define STATE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
