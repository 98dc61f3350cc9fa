// SPDX-License-Identifier: GPL-2.0-or-later
/* test_store.c - what is saved comes back, what is damaged is set aside, nothing is half applied */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/base/cleanup.h"
#include "daemon/store.h"
#include "daemon/store_file.h"

#define BOOT_A "11111111-2222-3333-4444-555555555555"
#define BOOT_B "99999999-2222-3333-4444-555555555555"

struct fixture {
	char root[64];
	char dir[80];
	char file[96];
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
	struct timespec ts;

	strcpy(f->root, "/tmp/schedd-store-XXXXXX");
	if (!mkdtemp(f->root))
		return -1;
	snprintf(f->dir, sizeof(f->dir), "%s/state-dir", f->root);
	snprintf(f->file, sizeof(f->file), "%s/state", f->dir);
	clock_gettime(CLOCK_BOOTTIME, &ts);
	f->boottime_ns = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	*state = f;
	return state_new(8, &f->saved) || state_new(8, &f->loaded);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	state_free(f->saved);
	state_free(f->loaded);
	nftw(f->root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	free(f);
	return 0;
}

static void add_class(struct state *s, const char *name, const char *guarantee, bool persistent)
{
	struct class_settings settings = { 0 };
	char error[256] = "";
	int slot;

	assert_int_equal(class_settings_parse_key(&settings, &class_keys[0], "lc", error, sizeof(error)), 0);
	assert_int_equal(class_settings_parse_key(&settings, &class_keys[1], guarantee, error, sizeof(error)), 0);
	if (state_upsert_class(s, name, &settings, 0, persistent, &slot, error, sizeof(error)) < 0)
		fail_msg("class %s: %s", name, error);
}

static void add_override(struct state *s, const char *name, uint32_t weight, bool persistent)
{
	struct class_settings settings = { .set = CLASS_FIELD_WEIGHT, .weight = weight };
	char error[256] = "";
	int slot;

	assert_int_equal(state_upsert_class(s, name, &settings, 0, persistent, &slot, error, sizeof(error)), 0);
}

static void add_assignment(struct state *s, const char *id, const char *path, uint64_t cgroup_id, const char *class_name,
			   enum command_lifetime lifetime, uint64_t expire_boottime_ns)
{
	char reason[] = "because = 100 %\n\xc3\xa4", text[300];
	struct state_assignment a = {
		.target_type = TARGET_PATH, .target_text = text, .cgroup_id = cgroup_id, .lifetime = lifetime,
		.whole_subtree = true, .actor_uid = 1000, .actor_pid = 4242, .actor_comm = "sched ctl", .reason = reason,
		.create_realtime_ns = 123456789, .expire_boottime_ns = expire_boottime_ns,
	};

	strcpy(text, path);
	strcpy(a.id, id);
	strcpy(a.class_name, class_name);
	assert_int_equal(state_set_assignment(s, &a, NULL), 0);
}

static void add_lease(struct fixture *f, const char *class_name)
{
	struct state_lease l = { .requested_cpus = 2, .actor_comm = "a b", .reason = "why not",
				 .expire_boottime_ns = f->boottime_ns + 600000000000 };

	strcpy(l.class_name, class_name);
	assert_int_equal(state_add_lease(f->saved, &l, NULL), 0);
}

static void add_request(struct fixture *f, const char *id, uint64_t expire_boottime_ns)
{
	struct state_request q = { .uid = 1000, .type = COMMAND_SET_CLASS, .content_hash = UINT64_MAX,
				   .expire_boottime_ns = expire_boottime_ns, .result_id = "a1" };

	strcpy(q.request_id, id);
	assert_int_equal(state_add_request(f->saved, &q, f->boottime_ns), 0);
}

static int save(struct fixture *f)
{
	return store_save_state(f->dir, f->saved, BOOT_A);
}

/* Expects nothing to be set aside. */
static int load_in(struct fixture *f, const char *boot_id, uint32_t *ret_skipped)
{
	_cleanup_free_ char *aside = NULL;
	int r = store_load_state(f->dir, f->loaded, boot_id, f->boottime_ns, ret_skipped, &aside);

	assert_null(aside);
	return r;
}

static char *read_file(const char *path, size_t *ret_size)
{
	_cleanup_fclose_ FILE *in = fopen(path, "r");
	char *text = malloc(1 << 20);

	assert_non_null(in);
	*ret_size = fread(text, 1, 1 << 20, in);
	return text;
}

static void write_file(const char *path, const char *text, size_t size)
{
	_cleanup_fclose_ FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, size, out), size);
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static void test_first_start_has_no_file(void **state)
{
	struct fixture *f = *state;
	uint32_t skipped = 7;

	assert_int_equal(load_in(f, BOOT_A, &skipped), -ENOENT);
	assert_int_equal(skipped, 7);
}

static void test_directory_and_file_are_private(void **state)
{
	struct fixture *f = *state;
	struct stat st;

	assert_int_equal(save(f), 0);
	assert_int_equal(stat(f->dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat(f->file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void test_everything_comes_back_within_a_boot(void **state)
{
	struct fixture *f = *state;
	const struct state_assignment *a;
	const struct state_class *c;
	uint32_t skipped = 7;

	add_class(f->saved, "web", "2", false);
	add_override(f->saved, "best-effort", 33, false);
	add_assignment(f->saved, "a1", "/a b%=\xff\x01", 77, "web", LIFETIME_CGROUP, 0);
	add_assignment(f->saved, "a2", "/c", 0, "best-effort", LIFETIME_PERSISTENT, f->boottime_ns + 1000000000000);
	add_request(f, "r1", f->boottime_ns + 600000000000);
	f->saved->next_id = 4711;
	assert_int_equal(save(f), 0);

	assert_int_equal(load_in(f, BOOT_A, &skipped), 0);
	assert_int_equal(skipped, 0);
	c = &f->loaded->classes[state_find_class(f->loaded, "web")];
	assert_int_equal(c->origin, CLASS_ORIGIN_API);
	assert_int_equal(c->effective.kind, SCHEDD_KIND_LATENCY_CRITICAL);
	assert_int_equal(c->effective.guarantee_cpus, 2);
	assert_int_equal(c->override.set, CLASS_FIELD_KIND | CLASS_FIELD_GUARANTEE);
	c = &f->loaded->classes[SCHEDD_CLASS_BEST_EFFORT];
	assert_int_equal(c->override.set, CLASS_FIELD_WEIGHT);
	assert_int_equal(c->effective.weight, 33);
	assert_int_equal(f->loaded->nr_assignments, 2);
	a = &f->loaded->assignments[0];
	assert_string_equal(a->id, "a1");
	assert_string_equal(a->target_text, "/a b%=\xff\x01");
	assert_int_equal(a->target_type, TARGET_PATH);
	assert_int_equal(a->cgroup_id, 77);
	assert_string_equal(a->class_name, "web");
	assert_int_equal(a->lifetime, LIFETIME_CGROUP);
	assert_true(a->whole_subtree);
	assert_int_equal(a->actor_uid, 1000);
	assert_int_equal(a->actor_pid, 4242);
	assert_string_equal(a->actor_comm, "sched ctl");
	assert_string_equal(a->reason, "because = 100 %\n\xc3\xa4");
	assert_int_equal(a->create_realtime_ns, 123456789);
	assert_int_equal(a->expire_boottime_ns, 0);
	assert_int_equal(f->loaded->assignments[1].expire_boottime_ns, f->boottime_ns + 1000000000000);
	assert_int_equal(f->loaded->nr_requests, 1);
	assert_string_equal(f->loaded->requests[0].request_id, "r1");
	assert_string_equal(f->loaded->requests[0].result_id, "a1");
	assert_int_equal(f->loaded->requests[0].type, COMMAND_SET_CLASS);
	assert_true(f->loaded->requests[0].content_hash == UINT64_MAX);
	assert_true(f->loaded->next_id >= 4711);
}

static void test_what_outlives_its_cgroup_waits_to_be_found_by_path(void **state)
{
	struct fixture *f = *state;
	uint32_t skipped;

	add_assignment(f->saved, "a1", "/a", 77, "best-effort", LIFETIME_RUNTIME, 0);
	assert_int_equal(save(f), 0);
	assert_int_equal(load_in(f, BOOT_A, &skipped), 0);
	assert_int_equal(f->loaded->assignments[0].cgroup_id, 0);
}

static void test_a_reboot_keeps_what_is_persistent(void **state)
{
	struct fixture *f = *state;
	uint32_t skipped = 7;
	uint64_t end;

	add_class(f->saved, "web", "2", true);
	add_class(f->saved, "gone", "1", false);
	add_override(f->saved, "normal", 5, true);
	add_assignment(f->saved, "a1", "/a", 77, "web", LIFETIME_CGROUP, 0);
	add_assignment(f->saved, "a2", "/b", 78, "gone", LIFETIME_RUNTIME, 0);
	add_assignment(f->saved, "a3", "/c", 79, "web", LIFETIME_PERSISTENT, f->boottime_ns + 3600000000000);
	add_assignment(f->saved, "a4", "/d", 80, "web", LIFETIME_PERSISTENT, 1);
	add_request(f, "r1", f->boottime_ns + 600000000000);
	assert_int_equal(save(f), 0);

	f->boottime_ns = 5000000000;
	assert_int_equal(load_in(f, BOOT_B, &skipped), 0);
	assert_int_equal(skipped, 0);
	assert_true(state_find_class(f->loaded, "web") >= 0);
	assert_int_equal(state_find_class(f->loaded, "gone"), -ENOENT);
	assert_int_equal(f->loaded->classes[SCHEDD_CLASS_NORMAL].effective.weight, 5);
	assert_int_equal(f->loaded->nr_assignments, 1);
	assert_string_equal(f->loaded->assignments[0].id, "a3");
	assert_int_equal(f->loaded->assignments[0].cgroup_id, 0);
	/* About an hour of the new boot's clock is left, whatever the old one said. */
	end = f->loaded->assignments[0].expire_boottime_ns;
	assert_true(end > 5000000000 + 3500000000000 && end <= 5000000000 + 3600000000000);
	assert_int_equal(f->loaded->nr_requests, 0);
}

static void test_what_ended_meanwhile_is_left_out(void **state)
{
	struct fixture *f = *state;
	uint32_t skipped = 7;

	add_assignment(f->saved, "a1", "/a", 77, "best-effort", LIFETIME_RUNTIME, f->boottime_ns + 10);
	add_request(f, "r1", f->boottime_ns + 10);
	assert_int_equal(save(f), 0);
	f->boottime_ns += 10;
	assert_int_equal(load_in(f, BOOT_A, &skipped), 0);
	assert_int_equal(skipped, 0);
	assert_int_equal(f->loaded->nr_assignments, 0);
	assert_int_equal(f->loaded->nr_requests, 0);
}

static void test_entries_that_no_longer_pass_are_counted(void **state)
{
	struct fixture *f = *state;
	uint32_t skipped = 0;

	add_class(f->saved, "big", "8", false);
	add_class(f->saved, "small", "1", false);
	add_assignment(f->saved, "a1", "/a", 77, "big", LIFETIME_RUNTIME, 0);
	add_assignment(f->saved, "a2", "/b", 78, "small", LIFETIME_RUNTIME, 0);
	assert_int_equal(save(f), 0);
	f->loaded->nr_cpus = 4;
	assert_int_equal(load_in(f, BOOT_A, &skipped), 0);
	assert_int_equal(skipped, 2);
	assert_int_equal(state_find_class(f->loaded, "big"), -ENOENT);
	assert_int_equal(f->loaded->nr_assignments, 1);
	assert_string_equal(f->loaded->assignments[0].id, "a2");
}

static void test_an_override_does_not_bring_its_class_back(void **state)
{
	struct state_config_class web = { .name = "web", .origin = (char[]){ "x:1" },
					  .settings = { .set = CLASS_FIELD_KIND, .kind = SCHEDD_KIND_NORMAL } };
	struct fixture *f = *state;
	uint32_t skipped = 0;
	char error[256];

	assert_int_equal(state_set_config(f->saved, &web, 1, NULL, 0, error, sizeof(error)), 0);
	add_override(f->saved, "web", 9, false);
	assert_int_equal(save(f), 0);
	assert_int_equal(load_in(f, BOOT_A, &skipped), 0);
	assert_int_equal(skipped, 1);
	assert_int_equal(state_find_class(f->loaded, "web"), -ENOENT);

	assert_int_equal(state_set_config(f->loaded, &web, 1, NULL, 0, error, sizeof(error)), 0);
	assert_int_equal(load_in(f, BOOT_A, &skipped), 0);
	assert_int_equal(skipped, 0);
	assert_int_equal(f->loaded->classes[state_find_class(f->loaded, "web")].effective.weight, 9);
	assert_int_equal(f->loaded->classes[state_find_class(f->loaded, "web")].origin, CLASS_ORIGIN_CONFIG);
}

/* The content of a state as a file would hold it. */
static char *state_text(struct fixture *f, const struct state *s)
{
	char dir[96], path[112];
	size_t size;
	char *text;

	snprintf(dir, sizeof(dir), "%s/compare", f->root);
	snprintf(path, sizeof(path), "%s/state", dir);
	assert_int_equal(store_save_state(dir, s, BOOT_A), 0);
	text = read_file(path, &size);
	text[size] = '\0';
	return text;
}

static void fill(struct fixture *f)
{
	add_class(f->saved, "web", "2", true);
	add_override(f->saved, "best-effort", 33, false);
	add_assignment(f->saved, "a1", "/a", 77, "web", LIFETIME_CGROUP, 0);
	add_assignment(f->saved, "a2", "/c", 0, "best-effort", LIFETIME_PERSISTENT, 0);
	add_lease(f, "web");
	add_request(f, "r1", f->boottime_ns + 600000000000);
}

static void test_a_saved_state_saves_the_same_again(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *first = NULL, *second = NULL;
	uint32_t skipped;

	fill(f);
	assert_int_equal(save(f), 0);
	assert_int_equal(load_in(f, BOOT_A, &skipped), 0);
	f->loaded->next_id = f->saved->next_id;
	first = state_text(f, f->saved);
	second = state_text(f, f->loaded);
	assert_string_equal(first, second);
}

/* Loads a damaged file: it must be set aside under that name, and change nothing. */
static void assert_set_aside(struct fixture *f, const char *text, size_t size, const char *aside_name)
{
	_cleanup_free_ char *before = state_text(f, f->loaded), *after = NULL, *aside = NULL, *kept = NULL;
	uint32_t skipped = 7;
	size_t kept_size;
	char path[128];

	write_file(f->file, text, size);
	assert_int_equal(store_load_state(f->dir, f->loaded, BOOT_A, f->boottime_ns, &skipped, &aside), -EUCLEAN);
	snprintf(path, sizeof(path), "%s/%s", f->dir, aside_name);
	assert_string_equal(aside, path);
	assert_false(exists(f->file));
	kept = read_file(path, &kept_size);
	assert_int_equal(kept_size, size);
	assert_memory_equal(kept, text, size);
	assert_int_equal(skipped, 7);
	after = state_text(f, f->loaded);
	assert_string_equal(after, before);
}

static void test_damaged_files_are_set_aside_and_kept(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *text = NULL;
	size_t size;

	fill(f);
	assert_int_equal(save(f), 0);
	text = read_file(f->file, &size);
	assert_set_aside(f, text, size - 1, "state.damaged");
	assert_set_aside(f, text, size / 2, "state.damaged-2");
	assert_set_aside(f, text, 0, "state.damaged-3");
	text[size / 2] ^= 1;
	assert_set_aside(f, text, size, "state.damaged-4");
	text[size / 2] ^= 1;
	/* The file itself was fine. */
	write_file(f->file, text, size);
	assert_int_equal(load_in(f, BOOT_A, &(uint32_t){ 0 }), 0);
}

static void test_a_plain_file_is_replaced_as_it_is(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *text = NULL;
	char path[96];
	size_t size;

	assert_int_equal(store_file_write_plain(f->root, "account", "a longer one\n", 13), 0);
	assert_int_equal(store_file_write_plain(f->root, "account", "short\n", 6), 0);
	snprintf(path, sizeof(path), "%s/account", f->root);
	text = read_file(path, &size);
	assert_int_equal(size, 6);
	assert_memory_equal(text, "short\n", 6);
	assert_int_equal(store_file_write_plain("/nonexistent", "account", "x", 1), -ENOENT);
}

static void test_another_version_is_set_aside(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *text = NULL;
	char path[96];
	size_t size;

	assert_int_equal(store_file_write(f->root, "other", "schedd-state 2\nx", "boot id=x next=1\n", 17), 0);
	assert_int_equal(save(f), 0);
	snprintf(path, sizeof(path), "%s/other", f->root);
	text = read_file(path, &size);
	assert_set_aside(f, text, size, "state.damaged");
}

static void test_whole_files_that_make_no_sense_change_nothing(void **state)
{
	static const char *const bodies[] = {
		"",
		"class name=web own=1 persistent=0 kind=normal\n",
		"boot id=" BOOT_A "\n",
		"boot id=" BOOT_A " next=1 extra=2\n",
		"boot id=" BOOT_A " next=1\nclass name=web own=1 persistent=0 kind=normal\nfoo a=b\n",
		"boot id=" BOOT_A " next=1\nclass name=web own=1 persistent=0 kind=normal\nclass name=WEB own=1 persistent=0\n",
		"boot id=" BOOT_A " next=1\nclass name=web own=2 persistent=0 kind=normal\n",
		"boot id=" BOOT_A " next=1\nclass name=web own=1 persistent=0 kind=normal kind=normal\n",
		"boot id=" BOOT_A " next=1\nclass name=web own=1 persistent=0 kind=normal\nassignment id=1\n",
		"boot id=" BOOT_A " next=1\nrequest id=1 uid=-1 command=SetClass hash=1 expires=1 result=\n",
		"boot id=" BOOT_A " next=1\nrequest id=1 uid=1 command=NoSuch hash=1 expires=1 result=\n",
		"boot id=%00 next=1\n",
		"boot id=%zz next=1\n",
		"boot id=" BOOT_A " next=99999999999999999999\n",
		"boot  id=" BOOT_A " next=1\n",
		"\nboot id=" BOOT_A " next=1\n",
	};
	struct fixture *f = *state;
	size_t i;

	assert_int_equal(save(f), 0);
	for (i = 0; i < ARRAY_SIZE(bodies); i++) {
		_cleanup_free_ char *before = state_text(f, f->loaded), *after = NULL, *aside = NULL;
		uint32_t skipped = 0;
		int r;

		assert_int_equal(store_file_write(f->dir, "state", "schedd-state", bodies[i], strlen(bodies[i])), 0);
		r = store_load_state(f->dir, f->loaded, BOOT_A, f->boottime_ns, &skipped, &aside);
		if (r != -EUCLEAN || !aside)
			fail_msg("gave %d for\n%s", r, bodies[i]);
		after = state_text(f, f->loaded);
		assert_string_equal(after, before);
	}
}

static void test_links_and_odd_files_are_set_aside(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *aside = NULL, *aside2 = NULL;
	uint32_t skipped;

	assert_int_equal(mkdir(f->dir, 0700), 0);
	assert_int_equal(symlink("/etc/passwd", f->file), 0);
	assert_int_equal(store_load_state(f->dir, f->loaded, BOOT_A, 1, &skipped, &aside), -EUCLEAN);
	assert_int_equal(mkfifo(f->file, 0600), 0);
	assert_int_equal(store_load_state(f->dir, f->loaded, BOOT_A, 1, &skipped, &aside2), -EUCLEAN);
	assert_non_null(strstr(aside2, "state.damaged-2"));
}

static void test_a_writer_that_died_leaves_the_old_file(void **state)
{
	struct fixture *f = *state;
	char temporary[112];
	uint32_t skipped;

	fill(f);
	assert_int_equal(save(f), 0);
	snprintf(temporary, sizeof(temporary), "%s/.state.new", f->dir);
	write_file(temporary, "schedd-state 1\nboot id=half", 27);
	assert_int_equal(load_in(f, BOOT_A, &skipped), 0);
	assert_int_equal(f->loaded->nr_assignments, 2);
	/* And it is in nobody's way. */
	assert_int_equal(save(f), 0);
	assert_false(exists(temporary));
}

static void test_a_full_disk_leaves_the_old_file(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *before = NULL, *after = NULL;
	struct rlimit old, tiny;
	size_t size, size_after;
	char temporary[112];
	int r;

	fill(f);
	assert_int_equal(save(f), 0);
	before = read_file(f->file, &size);
	add_assignment(f->saved, "a9", "/nine", 0, "web", LIFETIME_RUNTIME, 0);
	/* A write beyond the limit fails as one on a full disk does. */
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	tiny = (struct rlimit){ .rlim_cur = 64, .rlim_max = old.rlim_max };
	setrlimit(RLIMIT_FSIZE, &tiny);
	r = save(f);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(r, -EFBIG);
	after = read_file(f->file, &size_after);
	assert_int_equal(size_after, size);
	assert_memory_equal(after, before, size);
	snprintf(temporary, sizeof(temporary), "%s/.state.new", f->dir);
	assert_false(exists(temporary));
	assert_int_equal(save(f), 0);
}

static void test_a_directory_that_cannot_be_made_is_an_error(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(store_save_state("/nonexistent/schedd/state", f->saved, BOOT_A), -ENOENT);
	write_file(f->dir, "a file", 6);
	assert_int_equal(save(f), -ENOTDIR);
}

static void test_mutated_files_never_half_apply(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *text = NULL, *before = NULL;
	uint64_t seed = 777;
	size_t size, body_start, body_size;
	int round, whole = 0;

	fill(f);
	assert_int_equal(save(f), 0);
	text = read_file(f->file, &size);
	body_start = strcspn(text, "\n") + 1;
	body_size = size - body_start - strlen("checksum fnv1a64 0123456789abcdef\n");
	before = state_text(f, f->loaded);
	print_message("# seed %llu\n", (unsigned long long)seed);
	for (round = 0; round < 2000; round++) {
		_cleanup_free_ char *body = malloc(body_size), *aside = NULL, *after = NULL;
		uint32_t skipped = 0;
		size_t at;
		int r;

		memcpy(body, text + body_start, body_size);
		seed = seed * UINT64_C(6364136223846793005) + 1;
		at = (seed >> 33) % body_size;
		body[at] = (char)(seed >> 24);
		/* With a right checksum: only the reader of the lines stands between it and the model. */
		assert_int_equal(store_file_write(f->dir, "state", "schedd-state", body, body_size), 0);
		r = store_load_state(f->dir, f->loaded, BOOT_A, f->boottime_ns, &skipped, &aside);
		if (r == 0) {
			whole++;
			state_free(f->loaded);
			assert_int_equal(state_new(8, &f->loaded), 0);
			continue;
		}
		assert_int_equal(r, -EUCLEAN);
		assert_int_equal(unlink(aside), 0);
		after = state_text(f, f->loaded);
		assert_string_equal(after, before);
	}
	print_message("# %d of 2000 were still a state\n", whole);
}

static void test_a_hold_comes_back_until_the_next_boot(void **state)
{
	struct store_hold h = {
		.reason = "sysrq", .message = "SysRq-S at 10:00 = now", .since_realtime_ns = 1, .until_boottime_ns = 2,
		.wanted_mode = "auto", .return_mode = "active", .ejection_boottime_ns = { 3, 4, 5 }, .ejections_total = 6,
	}, back = { 0 };
	struct fixture *f = *state;
	_cleanup_free_ char *aside = NULL;
	struct stat st;

	assert_int_equal(store_load_hold(f->dir, BOOT_A, &back, &aside), -ENOENT);
	assert_int_equal(store_save_hold(f->dir, &h, BOOT_A), 0);
	assert_int_equal(stat(f->dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(store_load_hold(f->dir, BOOT_B, &back, &aside), -ENOENT);
	assert_string_equal(back.reason, "");
	assert_int_equal(store_load_hold(f->dir, BOOT_A, &back, &aside), 0);
	assert_memory_equal(&back, &h, sizeof(h));
	assert_null(aside);
}

static void test_a_damaged_hold_is_set_aside(void **state)
{
	static const char *const bodies[] = { "", "hold\n", "hold boot=x\n", "held boot=x\n", "hold boot=x\nhold boot=x\n" };
	struct store_hold back = { .reason = "untouched" };
	struct fixture *f = *state;
	size_t i;

	assert_int_equal(mkdir(f->dir, 0700), 0);
	for (i = 0; i < ARRAY_SIZE(bodies); i++) {
		_cleanup_free_ char *aside = NULL;

		assert_int_equal(store_file_write(f->dir, "hold", "schedd-hold", bodies[i], strlen(bodies[i])), 0);
		assert_int_equal(store_load_hold(f->dir, "x", &back, &aside), -EUCLEAN);
		assert_non_null(strstr(aside, "/hold.damaged"));
		assert_string_equal(back.reason, "untouched");
	}
}

static void test_the_boot_id_has_the_form_of_one(void **state)
{
	char id[STORE_BOOT_ID_MAX + 1];

	(void)state;
	assert_int_equal(store_read_boot_id(id), 0);
	assert_int_equal(strlen(id), 36);
	assert_int_equal(strspn(id, "0123456789abcdef-"), 36);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_first_start_has_no_file),
		T(test_directory_and_file_are_private),
		T(test_everything_comes_back_within_a_boot),
		T(test_what_outlives_its_cgroup_waits_to_be_found_by_path),
		T(test_a_reboot_keeps_what_is_persistent),
		T(test_what_ended_meanwhile_is_left_out),
		T(test_entries_that_no_longer_pass_are_counted),
		T(test_an_override_does_not_bring_its_class_back),
		T(test_a_saved_state_saves_the_same_again),
		T(test_damaged_files_are_set_aside_and_kept),
		T(test_a_plain_file_is_replaced_as_it_is),
		T(test_another_version_is_set_aside),
		T(test_whole_files_that_make_no_sense_change_nothing),
		T(test_links_and_odd_files_are_set_aside),
		T(test_a_writer_that_died_leaves_the_old_file),
		T(test_a_full_disk_leaves_the_old_file),
		T(test_a_directory_that_cannot_be_made_is_an_error),
		T(test_mutated_files_never_half_apply),
		T(test_a_hold_comes_back_until_the_next_boot),
		T(test_a_damaged_hold_is_set_aside),
		T(test_the_boot_id_has_the_form_of_one),
	};

	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
