/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_store_lease.c - leases in the state file: for the rest of their time, within one boot */
#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <cmocka.h>

#include "daemon/base/cleanup.h"
#include "daemon/store.h"
#include "daemon/store_file.h"

#define BOOT_A "11111111-2222-3333-4444-555555555555"
#define BOOT_B "99999999-2222-3333-4444-555555555555"
#define S UINT64_C(1000000000)

struct fixture {
	char dir[64];
	struct state *saved, *loaded;
	uint64_t boottime_ns;
};

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->dir, "/tmp/schedd-lease-XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	f->boottime_ns = 5000 * S;
	*state = f;
	return state_new(8, &f->saved) || state_new(8, &f->loaded);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	state_free(f->saved);
	state_free(f->loaded);
	nftw(f->dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	free(f);
	return 0;
}

static struct state_lease lease_of(struct fixture *f, const char *class_name, const char *from, uint32_t cpus)
{
	struct state_lease l = {
		.requested_cpus = cpus,
		.min_cpus = 1,
		.has_numa_node = true,
		.numa_node = 3,
		.actor_uid = 1000,
		.actor_pid = 4242,
		.actor_comm = "or che",
		.reason = "a burst = 100 %\xc3\xa4",
		.create_realtime_ns = 123456789,
		.arrive_boottime_ns = f->boottime_ns - S,
		.expire_boottime_ns = f->boottime_ns + 30 * S,
	};

	strcpy(l.class_name, class_name);
	strcpy(l.from_class_name, from);
	return l;
}

static void add(struct fixture *f, const char *class_name, const char *from, uint32_t cpus)
{
	const struct state_lease l = lease_of(f, class_name, from, cpus);

	assert_int_equal(state_add_lease(f->saved, &l, NULL), 0);
}

static uint32_t load_in(struct fixture *f, const char *boot_id)
{
	_cleanup_free_ char *aside = NULL;
	uint32_t skipped = 99;

	assert_int_equal(store_load_state(f->dir, f->loaded, boot_id, f->boottime_ns, &skipped, &aside), 0);
	assert_null(aside);
	return skipped;
}

static void save(struct fixture *f)
{
	assert_int_equal(store_save_state(f->dir, f->saved, BOOT_A), 0);
}

static void test_a_lease_holds_for_the_rest_of_its_time(void **state)
{
	struct fixture *f = *state;
	struct state_request q = { .request_id = "r1",
				   .uid = 7,
				   .type = COMMAND_GRANT_CORES,
				   .content_hash = 1,
				   .expire_boottime_ns = f->boottime_ns + 600 * S };
	const struct state_request *done;
	const struct state_lease *l;

	add(f, "latency-critical", "", 2);
	add(f, "best-effort", "normal", 9);
	f->saved->leases[0].is_owned = f->saved->leases[0].was_owned = true;
	strcpy(q.result_id, f->saved->leases[0].id);
	assert_int_equal(state_add_request(f->saved, &q, f->boottime_ns), 0);
	save(f);
	f->boottime_ns += 10 * S;
	assert_int_equal(load_in(f, BOOT_A), 0);
	assert_int_equal(f->loaded->nr_leases, 2);
	l = &f->loaded->leases[0];
	assert_string_equal(l->id, f->saved->leases[0].id);
	assert_string_equal(l->class_name, "latency-critical");
	assert_string_equal(l->from_class_name, "");
	assert_int_equal(l->requested_cpus, 2);
	assert_int_equal(l->granted_cpus, 2);
	assert_true(l->has_numa_node);
	assert_int_equal(l->numa_node, 3);
	assert_int_equal(l->actor_uid, 1000);
	assert_int_equal(l->actor_pid, 4242);
	assert_string_equal(l->actor_comm, "or che");
	assert_string_equal(l->reason, "a burst = 100 %\xc3\xa4");
	assert_int_equal(l->create_realtime_ns, 123456789);
	assert_int_equal(l->arrive_boottime_ns, f->saved->leases[0].arrive_boottime_ns);
	assert_int_equal(l->expire_boottime_ns, f->boottime_ns + 20 * S);
	/* How far it is, is found out anew. */
	assert_false(l->is_owned || l->was_owned);
	assert_string_equal(f->loaded->leases[1].from_class_name, "normal");
	assert_int_equal(f->loaded->leases[1].requested_cpus, 9);
	assert_int_equal(f->loaded->leases[1].granted_cpus, 5);
	assert_int_equal(f->loaded->leases[1].min_cpus, 1);
	assert_int_equal(f->loaded->classes[SCHEDD_CLASS_LATENCY_CRITICAL].effective_guarantee_cpus, 2);
	done = state_find_request(f->loaded, "r1", 7, COMMAND_GRANT_CORES, f->boottime_ns);
	assert_non_null(done);
	assert_non_null(state_find_lease(f->loaded, done->result_id));
}

static void test_it_is_gone_when_its_time_has_passed(void **state)
{
	struct fixture *f = *state;

	add(f, "latency-critical", "", 2);
	save(f);
	f->boottime_ns += 30 * S;
	assert_int_equal(load_in(f, BOOT_A), 0);
	assert_int_equal(f->loaded->nr_leases, 0);
	assert_int_equal(f->loaded->classes[SCHEDD_CLASS_LATENCY_CRITICAL].effective_guarantee_cpus, 0);
}

static void test_no_lease_survives_a_reboot(void **state)
{
	struct fixture *f = *state;

	add(f, "latency-critical", "", 2);
	save(f);
	/* Even though the new boot's clock is below its end. */
	f->boottime_ns = 10 * S;
	assert_int_equal(load_in(f, BOOT_B), 0);
	assert_int_equal(f->loaded->nr_leases, 0);
}

static void test_the_limits_of_calls_hold_for_what_is_stored(void **state)
{
	struct fixture *f = *state;
	struct class_settings c = { .set = CLASS_FIELD_KIND, .kind = SCHEDD_KIND_LATENCY_CRITICAL };
	char error[256];

	assert_int_equal(state_upsert_class(f->saved, "web", &c, 0, false, NULL, error, sizeof(error)), 0);
	add(f, "web", "", 1);
	add(f, "latency-critical", "", 1);
	add(f, "latency-critical", "", 5);
	/* The file knows a class that is not there any more, and there are fewer CPUs. */
	assert_int_equal(state_upsert_class(f->loaded, "a", &c, 0, false, NULL, error, sizeof(error)), 0);
	f->saved->classes[state_find_class(f->saved, "web")].origin = CLASS_ORIGIN_CONFIG;
	f->saved->classes[state_find_class(f->saved, "web")].override.set = 0;
	save(f);
	f->loaded->nr_cpus = 4;
	f->loaded->lease_ttl_max_ns = 10 * S;
	assert_int_equal(load_in(f, BOOT_A), 2);
	assert_int_equal(f->loaded->nr_leases, 1);
	assert_int_equal(f->loaded->leases[0].granted_cpus, 1);
	assert_int_equal(f->loaded->leases[0].expire_boottime_ns, f->boottime_ns + 10 * S);
}

static void test_entries_that_are_none(void **state)
{
	static const char good[] =
		"lease id=a class=normal from= requested=1 min=0 granted=1 on_node=0 node=0 uid=0 pid=0 comm= "
		"reason= created=1 arrived=1 expires=9999999999999\n";
	static const struct {
		const char *from, *to;
		int result;
		uint32_t skipped;
	} cases[] = {
		{ "id=a", "id=a", 0, 0 },
		{ "id=a", "id=", 0, 1 },
		{ "granted=1", "granted=0", 0, 1 },
		{ "granted=1", "granted=2", 0, 1 },
		{ "class=normal", "class=none", 0, 1 },
		{ "arrived=1", "arrived=9999999999998", 0, 1 },
		{ "reason=", "reason=%ff", 0, 1 },
		{ "on_node=0", "on_node=2", -EUCLEAN, 0 },
		{ " min=0", "", -EUCLEAN, 0 },
		{ "requested=1", "requested=4294967296", -EUCLEAN, 0 },
		{ " min=0", " min=0 more=1", -EUCLEAN, 0 },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *aside = NULL, *text = NULL;
		const char *at = strstr(good, cases[i].from);
		uint32_t skipped = 0;
		int n;

		n = asprintf(&text, "boot id=%s next=1\n%.*s%s%s", BOOT_A, (int)(at - good), good, cases[i].to,
			     at + strlen(cases[i].from));
		assert_int_equal(store_file_write(f->dir, "state", "schedd-state", text, (size_t)n), 0);
		if (store_load_state(f->dir, f->loaded, BOOT_A, f->boottime_ns, &skipped, &aside) != cases[i].result ||
		    skipped != cases[i].skipped)
			fail_msg("case %zu: another result, or %u skipped", i, skipped);
		assert_int_equal(f->loaded->nr_leases, i == 0);
		while (f->loaded->nr_leases)
			state_remove_lease(f->loaded, 0);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_lease_holds_for_the_rest_of_its_time),
		T(test_it_is_gone_when_its_time_has_passed),
		T(test_no_lease_survives_a_reboot),
		T(test_the_limits_of_calls_hold_for_what_is_stored),
		T(test_entries_that_are_none),
	};

	return cmocka_run_group_tests_name("store_lease", tests, NULL, NULL);
}
