/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_attach.c - the attach policy in made-up time */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/attach.h"

static const uint64_t s = 1000000000ull;

static struct attach started(enum schedd_mode configured)
{
	struct attach a;

	attach_init(&a, configured, NULL);
	return a;
}

static enum attach_action step(struct attach *a, uint64_t now_ns)
{
	uint64_t next;

	return attach_step(a, now_ns, &next);
}

static void exit_of(struct attach *a, enum sched_exit_kind kind, uint64_t now_ns)
{
	struct sched_exit e = { .kind = kind, .reason = "reason", .message = "message" };

	attach_exited(a, &e, now_ns, now_ns);
}

/* Carries out whatever is asked until nothing is: A attach, O observe, D detach. */
static const char *settle(struct attach *a, uint64_t now_ns)
{
	static char done[8];
	size_t n = 0;

	memset(done, 0, sizeof(done));
	for (;;) {
		switch (step(a, now_ns)) {
		case ATTACH_DO_ATTACH:
			done[n++] = 'A';
			attach_done(a, 0, "", now_ns);
			break;
		case ATTACH_DO_OBSERVE:
			done[n++] = 'O';
			attach_observed(a, 0, "");
			break;
		case ATTACH_DO_DETACH:
			done[n++] = 'D';
			exit_of(a, SCHED_EXIT_DETACHED, now_ns);
			break;
		default:
			return done;
		}
		assert_true(n < sizeof(done) - 1);
	}
}

static void make_attached(struct attach *a, uint64_t now_ns)
{
	assert_int_equal(step(a, now_ns), ATTACH_DO_ATTACH);
	attach_done(a, 0, "", now_ns);
	assert_int_equal(a->state, ATTACH_ATTACHED);
	assert_int_equal(step(a, now_ns), ATTACH_NOTHING);
}

static void auto_follows_classes(void **unused)
{
	struct attach a = started(MODE_AUTO);
	uint64_t next;

	(void)unused;
	assert_int_equal(step(&a, 1 * s), ATTACH_NOTHING);
	assert_int_equal(a.state, ATTACH_DETACHED);
	attach_set_wanted(&a, true, 2 * s);
	make_attached(&a, 2 * s);
	attach_set_wanted(&a, false, 10 * s);
	assert_int_equal(attach_step(&a, 10 * s, &next), ATTACH_NOTHING);
	assert_int_equal(next, 70 * s);
	assert_int_equal(step(&a, 69 * s), ATTACH_NOTHING);
	assert_int_equal(step(&a, 70 * s), ATTACH_DO_DETACH);
}

static void auto_stays_when_a_class_returns(void **unused)
{
	struct attach a = started(MODE_AUTO);

	(void)unused;
	attach_set_wanted(&a, true, s);
	make_attached(&a, s);
	attach_set_wanted(&a, false, 10 * s);
	attach_set_wanted(&a, true, 30 * s);
	assert_int_equal(step(&a, 100 * s), ATTACH_NOTHING);
	assert_int_equal(a.state, ATTACH_ATTACHED);
}

static void active_attaches_at_once(void **unused)
{
	struct attach a = started(MODE_ACTIVE);

	(void)unused;
	make_attached(&a, s);
}

static void detached_is_a_hold(void **unused)
{
	struct attach a = started(MODE_ACTIVE);
	struct store_hold stored;

	(void)unused;
	make_attached(&a, s);
	attach_set_mode(&a, MODE_DETACHED, 0, 2 * s, 2 * s);
	assert_true(a.hold_changed);
	assert_int_equal(step(&a, 2 * s), ATTACH_DO_DETACH);
	exit_of(&a, SCHED_EXIT_DETACHED, 2 * s);
	assert_int_equal(step(&a, 2 * s), ATTACH_NOTHING);
	assert_int_equal(a.state, ATTACH_HELD);
	stored = a.hold;
	attach_init(&a, MODE_ACTIVE, &stored);
	assert_int_equal(step(&a, 3 * s), ATTACH_NOTHING);
	assert_int_equal(a.state, ATTACH_HELD);
	attach_set_mode(&a, MODE_AUTO, 0, 4 * s, 4 * s);
	attach_set_wanted(&a, true, 4 * s);
	make_attached(&a, 4 * s);
}

static void detached_for_a_while_returns(void **unused)
{
	struct attach a = started(MODE_ACTIVE);
	uint64_t next;

	(void)unused;
	make_attached(&a, s);
	attach_set_mode(&a, MODE_DETACHED, 30 * s, 2 * s, 2 * s);
	assert_int_equal(step(&a, 2 * s), ATTACH_DO_DETACH);
	exit_of(&a, SCHED_EXIT_DETACHED, 2 * s);
	assert_int_equal(attach_step(&a, 2 * s, &next), ATTACH_NOTHING);
	assert_int_equal(next, 32 * s);
	assert_int_equal(step(&a, 32 * s), ATTACH_DO_ATTACH);
	assert_int_equal(attach_mode(&a), MODE_ACTIVE);
}

static void sysrq_holds_over_a_restart(void **unused)
{
	struct attach a = started(MODE_AUTO);
	struct store_hold stored;

	(void)unused;
	attach_set_wanted(&a, true, s);
	make_attached(&a, s);
	exit_of(&a, SCHED_EXIT_SYSRQ, 2 * s);
	assert_int_equal(a.state, ATTACH_HELD);
	assert_int_equal(step(&a, 1000 * s), ATTACH_NOTHING);
	stored = a.hold;
	attach_init(&a, MODE_AUTO, &stored);
	attach_set_wanted(&a, true, 1001 * s);
	assert_int_equal(step(&a, 1001 * s), ATTACH_NOTHING);
	assert_int_equal(a.state, ATTACH_HELD);
}

static void restart_attaches_at_once(void **unused)
{
	struct attach a = started(MODE_ACTIVE);

	(void)unused;
	make_attached(&a, s);
	exit_of(&a, SCHED_EXIT_RESTART, 2 * s);
	make_attached(&a, 2 * s);
	assert_int_equal(a.hold.ejections_total, 0);
}

static void ejections_back_off_then_hold(void **unused)
{
	static const uint64_t wait_s[] = { 1, 5 };
	struct attach a = started(MODE_ACTIVE);
	uint64_t now = s, next;

	(void)unused;
	make_attached(&a, now);
	for (size_t i = 0; i < 2; i++) {
		exit_of(&a, SCHED_EXIT_STALL, now);
		assert_int_equal(a.state, ATTACH_BACKOFF);
		assert_int_equal(attach_step(&a, now, &next), ATTACH_NOTHING);
		assert_int_equal(next, now + wait_s[i] * s);
		now = next;
		make_attached(&a, now);
	}
	exit_of(&a, SCHED_EXIT_ERROR, now);
	assert_int_equal(a.state, ATTACH_DEGRADED);
	assert_string_equal(a.hold.reason, "ejections");
	assert_int_equal(step(&a, now + 10000 * s), ATTACH_NOTHING);
	assert_int_equal(a.hold.ejections_total, 3);
}

static void old_ejections_do_not_count(void **unused)
{
	struct attach a = started(MODE_ACTIVE);
	uint64_t now = s;

	(void)unused;
	make_attached(&a, now);
	for (int i = 0; i < 6; i++) {
		exit_of(&a, SCHED_EXIT_STALL, now);
		assert_int_equal(a.state, ATTACH_BACKOFF);
		now += 400 * s;
		make_attached(&a, now);
	}
}

static void blocked_looks_again(void **unused)
{
	struct attach a = started(MODE_ACTIVE);
	uint64_t next;

	(void)unused;
	assert_int_equal(step(&a, s), ATTACH_DO_ATTACH);
	attach_done(&a, -EBUSY, "the scheduler x is loaded", s);
	assert_int_equal(a.state, ATTACH_BLOCKED);
	assert_int_equal(attach_step(&a, s, &next), ATTACH_NOTHING);
	assert_int_equal(next, 6 * s);
	make_attached(&a, 6 * s);
}

static void refusal_is_not_retried(void **unused)
{
	struct attach a = started(MODE_ACTIVE);

	(void)unused;
	assert_int_equal(step(&a, s), ATTACH_DO_ATTACH);
	attach_done(&a, -EINVAL, "isolcpus", s);
	assert_int_equal(a.state, ATTACH_DEGRADED);
	assert_int_equal(step(&a, 1000 * s), ATTACH_NOTHING);
	attach_set_mode(&a, MODE_ACTIVE, 0, 1001 * s, 1001 * s);
	assert_int_equal(step(&a, 1001 * s), ATTACH_DO_ATTACH);
}

static void unsupported_does_nothing(void **unused)
{
	struct attach a = started(MODE_ACTIVE);

	(void)unused;
	attach_set_supported(&a, false, "no sched_ext");
	assert_int_equal(step(&a, s), ATTACH_NOTHING);
	assert_int_equal(a.state, ATTACH_UNSUPPORTED);
	attach_set_configured(&a, MODE_OBSERVE);
	assert_int_equal(step(&a, s), ATTACH_NOTHING);
	assert_int_equal(a.state, ATTACH_UNSUPPORTED);
}

/* Where each mode is, with a class that asks for the scheduler and without. */
static const struct place {
	enum schedd_mode mode;
	bool wanted;
	enum attach_state state;
	const char *from_nothing, *reason;
} places[] = {
	{ MODE_AUTO, false, ATTACH_DETACHED, "", "no cgroup has a class" },
	{ MODE_AUTO, true, ATTACH_ATTACHED, "A", "a cgroup has a class" },
	{ MODE_ACTIVE, false, ATTACH_ATTACHED, "A", "mode active" },
	{ MODE_ACTIVE, true, ATTACH_ATTACHED, "A", "mode active" },
	{ MODE_OBSERVE, false, ATTACH_OBSERVING, "O", "mode observe" },
	{ MODE_OBSERVE, true, ATTACH_OBSERVING, "O", "mode observe" },
	{ MODE_PAUSED, false, ATTACH_ATTACHED, "A", "mode paused" },
	{ MODE_PAUSED, true, ATTACH_ATTACHED, "A", "mode paused" },
	{ MODE_DETACHED, false, ATTACH_HELD, "", "mode detached" },
	{ MODE_DETACHED, true, ATTACH_HELD, "", "mode detached" },
};
enum { NR_PLACES = sizeof(places) / sizeof(places[0]) };

static bool is_place(const struct attach *a, const struct place *p)
{
	/* Detached by the configuration is no hold. */
	if (p->mode == MODE_DETACHED && a->configured == MODE_DETACHED && a->state == ATTACH_DETACHED)
		return strstr(a->reason, p->reason) != NULL;
	return a->state == p->state && strstr(a->reason, p->reason) && attach_is_paused(a) == (p->mode == MODE_PAUSED);
}

static struct attach settled(const struct place *p)
{
	struct attach a = started(p->mode);

	if (p->wanted)
		attach_set_wanted(&a, true, s);
	assert_string_equal(settle(&a, s), p->from_nothing);
	assert_true(is_place(&a, p));
	return a;
}

/* What leads from one place to the other: nothing when they are of one sort, else down and up. */
static void expect_way(struct attach *a, const struct place *from, const struct place *to, uint64_t now_ns)
{
	char way[8] = "";

	if (strcmp(from->from_nothing, to->from_nothing) != 0)
		snprintf(way, sizeof(way), "%s%s", from->from_nothing[0] ? "D" : "", to->from_nothing);
	if (strcmp(settle(a, now_ns), way) != 0 || !is_place(a, to))
		fail_msg("%s to %s, %s: not %s but in state %s, %s", mode_name(from->mode), mode_name(to->mode),
			 to->wanted ? "wanted" : "not wanted", way, attach_state_name(a->state), a->reason);
}

static void every_mode_leads_to_every_other(void **unused)
{
	(void)unused;
	for (size_t from = 0; from < NR_PLACES; from++) {
		for (size_t to = 0; to < NR_PLACES; to++) {
			struct attach by_call = settled(&places[from]), by_config = by_call;

			if (places[from].wanted != places[to].wanted)
				continue;
			attach_set_mode(&by_call, places[to].mode, 0, 2 * s, 2 * s);
			assert_true(by_call.hold_changed);
			expect_way(&by_call, &places[from], &places[to], 2 * s);
			attach_set_configured(&by_config, places[to].mode);
			expect_way(&by_config, &places[from], &places[to], 2 * s);
		}
	}
}

static void every_mode_for_a_while_returns(void **unused)
{
	uint64_t next;

	(void)unused;
	for (size_t from = 0; from < NR_PLACES; from++) {
		for (size_t to = 0; to < NR_PLACES; to++) {
			struct attach a = settled(&places[from]);

			if (places[from].wanted != places[to].wanted)
				continue;
			attach_set_mode(&a, places[to].mode, 30 * s, 2 * s, 2 * s);
			expect_way(&a, &places[from], &places[to], 2 * s);
			assert_int_equal(attach_step(&a, 3 * s, &next), ATTACH_NOTHING);
			assert_int_equal(next, 32 * s);
			expect_way(&a, &places[to], &places[from], 32 * s);
			assert_int_equal(attach_mode(&a), places[from].mode);
		}
	}
}

/* The answer to the call goes out before the mode is reached, and must not claim that it is. */
static void the_way_is_explained(void **unused)
{
	struct attach a = started(MODE_ACTIVE);

	(void)unused;
	make_attached(&a, s);
	attach_set_mode(&a, MODE_OBSERVE, 0, s, s);
	assert_int_equal(a.state, ATTACH_ATTACHED);
	assert_string_equal(a.reason, "observing next");
	settle(&a, s);
	attach_set_mode(&a, MODE_PAUSED, 0, s, s);
	assert_int_equal(a.state, ATTACH_OBSERVING);
	settle(&a, s);
	attach_set_mode(&a, MODE_ACTIVE, 0, s, s);
	assert_string_equal(a.reason, "mode active");
}

static void observing_ignores_ejections(void **unused)
{
	struct attach a = started(MODE_ACTIVE);

	(void)unused;
	make_attached(&a, s);
	exit_of(&a, SCHED_EXIT_STALL, s);
	assert_int_equal(a.state, ATTACH_BACKOFF);
	attach_set_configured(&a, MODE_OBSERVE);
	assert_string_equal(settle(&a, s), "O");
	/* The back-off still stands for the scheduler. */
	attach_set_configured(&a, MODE_ACTIVE);
	assert_string_equal(settle(&a, s), "D");
	assert_int_equal(a.state, ATTACH_DETACHED);
	assert_string_equal(settle(&a, 2 * s), "A");
	exit_of(&a, SCHED_EXIT_ERROR, 3 * s);
	make_attached(&a, 10 * s);
	exit_of(&a, SCHED_EXIT_ERROR, 10 * s);
	assert_string_equal(a.hold.reason, "ejections");
	attach_set_configured(&a, MODE_OBSERVE);
	assert_string_equal(settle(&a, 11 * s), ""); /* a hold beats the configuration */
	attach_set_mode(&a, MODE_OBSERVE, 0, 12 * s, 12 * s);
	assert_string_equal(settle(&a, 12 * s), "O");
	assert_string_equal(a.hold.reason, "");
}

static void refusal_does_not_keep_from_observing(void **unused)
{
	struct attach a = started(MODE_ACTIVE);

	(void)unused;
	assert_int_equal(step(&a, s), ATTACH_DO_ATTACH);
	attach_done(&a, -EINVAL, "isolcpus", s);
	attach_set_configured(&a, MODE_OBSERVE);
	assert_string_equal(settle(&a, s), "O");
}

static void refused_observing_is_not_retried(void **unused)
{
	struct attach a = started(MODE_OBSERVE);

	(void)unused;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(step(&a, s), ATTACH_DO_OBSERVE);
		attach_observed(&a, -EPERM, "refused");
		assert_int_equal(a.state, ATTACH_DEGRADED);
		assert_string_equal(a.reason, "refused");
		assert_int_equal(step(&a, 1000 * s), ATTACH_NOTHING);
		assert_int_equal(a.state, ATTACH_DEGRADED);
		attach_set_mode(&a, MODE_OBSERVE, 0, 1000 * s, 1000 * s);
	}
	attach_observed(&a, -EPERM, "refused");
	attach_set_mode(&a, MODE_AUTO, 0, s, s);
	assert_string_equal(settle(&a, s), "");
	assert_int_equal(a.state, ATTACH_DETACHED);
	a = started(MODE_OBSERVE);
	assert_int_equal(step(&a, s), ATTACH_DO_OBSERVE);
	attach_observed(&a, -EPERM, "refused");
	attach_set_configured(&a, MODE_ACTIVE);
	assert_string_equal(settle(&a, s), "A");
}

static void observing_starts_anew_when_cpus_change(void **unused)
{
	struct attach a = started(MODE_OBSERVE);

	(void)unused;
	assert_string_equal(settle(&a, s), "O");
	exit_of(&a, SCHED_EXIT_RESTART, 2 * s);
	assert_string_equal(settle(&a, 2 * s), "O");
}

/* Whatever happens in whatever order: a hold is never left but by a call or its end. */
static void random_events_respect_holds(void **unused)
{
	static const enum schedd_mode modes[] = { MODE_AUTO, MODE_DETACHED, MODE_OBSERVE, MODE_PAUSED };
	uint64_t seed = 88172645463325252ull, now = s, next;
	struct attach a = started(MODE_AUTO);

	(void)unused;
	print_message("# seed %llu\n", (unsigned long long)seed);
	for (int i = 0; i < 100000; i++) {
		bool held = a.hold.reason[0] && !a.hold.until_boottime_ns;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		now += seed % (5 * s);
		if (a.state == ATTACH_ATTACHED && seed % 7 == 0)
			exit_of(&a, (enum sched_exit_kind)(SCHED_EXIT_DETACHED + seed % 5), now);
		else if (seed % 11 == 0)
			attach_set_wanted(&a, seed & 256, now);
		else if (seed % 101 == 0)
			attach_set_mode(&a, modes[seed >> 20 & 3], seed & 512 ? 3 * s : 0, now, now);
		else if (held)
			assert_int_not_equal(attach_step(&a, now, &next), ATTACH_DO_ATTACH);
		switch (attach_step(&a, now, &next)) {
		case ATTACH_DO_ATTACH:
			assert_false(a.hold.reason[0]);
			attach_done(&a, seed & 1024 ? 0 : -EBUSY, "x", now);
			break;
		case ATTACH_DO_OBSERVE:
			assert_int_equal(attach_mode(&a), MODE_OBSERVE);
			assert_int_not_equal(a.state, ATTACH_ATTACHED);
			attach_observed(&a, seed & 1024 ? 0 : -EPERM, "x");
			break;
		case ATTACH_DO_DETACH:
			exit_of(&a, SCHED_EXIT_DETACHED, now);
			break;
		default:
			break;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(auto_follows_classes),
		cmocka_unit_test(auto_stays_when_a_class_returns),
		cmocka_unit_test(active_attaches_at_once),
		cmocka_unit_test(detached_is_a_hold),
		cmocka_unit_test(detached_for_a_while_returns),
		cmocka_unit_test(sysrq_holds_over_a_restart),
		cmocka_unit_test(restart_attaches_at_once),
		cmocka_unit_test(ejections_back_off_then_hold),
		cmocka_unit_test(old_ejections_do_not_count),
		cmocka_unit_test(blocked_looks_again),
		cmocka_unit_test(refusal_is_not_retried),
		cmocka_unit_test(unsupported_does_nothing),
		cmocka_unit_test(every_mode_leads_to_every_other),
		cmocka_unit_test(every_mode_for_a_while_returns),
		cmocka_unit_test(the_way_is_explained),
		cmocka_unit_test(observing_ignores_ejections),
		cmocka_unit_test(refusal_does_not_keep_from_observing),
		cmocka_unit_test(refused_observing_is_not_retried),
		cmocka_unit_test(observing_starts_anew_when_cpus_change),
		cmocka_unit_test(random_events_respect_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
