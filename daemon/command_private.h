/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command_private.h - what the files of commands call of each other */
#ifndef SCHEDD_COMMAND_PRIVATE_H
#define SCHEDD_COMMAND_PRIVATE_H

#include "daemon/command_env.h"
#include "daemon/command_reason.h"

/* One call on its way. */
struct call {
	struct command_env *env;
	const struct command *cmd;
	struct reply *reply;
	const char *class_name;           /* canonical */
	/* Of the target, after call_resolve_target(). */
	const char *path;
	struct cgroup_node *node;
	/* What a retry of this change is answered with. */
	char result_id[STATE_ID_MAX + 1];
};

/*
 * A change of the model.  prepare() checks and resolves, and may let the tree
 * move on; apply() changes the model and fills the reply, what it did wrong is undone
 * by the caller; finish() (may be NULL) does what cannot be undone, after the
 * commit, which is taken back when it fails; replay() fills the reply from the
 * model of now for a change that was done before.  Each returns the reply's status.
 */
struct change_ops {
	enum command_status (*prepare)(struct call *c);
	enum command_status (*apply)(struct call *c);
	enum command_status (*finish)(struct call *c);
	enum command_status (*replay)(struct call *c, const char *result_id);
};

/* command_class.c */
extern const struct change_ops upsert_class_ops, revert_class_ops, delete_class_ops;
enum command_status run_list_classes(struct call *c);
enum command_status run_get_class(struct call *c);

/* command_assign.c */
extern const struct change_ops set_class_ops, unset_class_ops;
enum command_status run_list_assignments(struct call *c);

/* command_cgroup.c */
enum command_status run_explain_target(struct call *c);
enum command_status run_list_cgroups(struct call *c);

/* command_watch.c */
enum command_status run_watch_events(struct call *c);

/* command_change.c */
extern const struct change_ops set_mode_ops;
enum command_status run_change(struct call *c, const struct change_ops *ops);
enum command_status run_reload_config(struct call *c);

/* command_lease.c */
extern const struct change_ops grant_cores_ops, reassign_cores_ops, renew_lease_ops, release_lease_ops;
enum command_status run_list_leases(struct call *c);

/* command.c */
void reply_init(struct reply *reply); /* strings are never NULL */

/* command_target.c */
enum command_status call_resolve_target(struct call *c);
enum command_status call_fail_path(struct call *c, int r, const char *path);
enum command_status call_find_class(struct call *c, int *ret_slot); /* CLASS_NOT_FOUND names those that there are */

/* command_view.c; strings are copied, so a view outlives the model it shows. */
const char *reply_text(struct reply *reply, const char *s);  /* a copy, "" without memory */
const char *reply_shown(struct reply *reply, const char *s); /* escaped and cut, for messages */
void reply_add_detail(struct reply *reply, const char *field, const char *description);
enum command_status reply_no_memory(struct reply *reply);
const char *class_etag(struct reply *reply, const struct state_class *c);
enum command_status reply_one_class(struct call *c, int slot);
void view_class(struct call *c, int slot, struct class_view *ret_view);
void view_assignment(struct call *c, const struct state_assignment *a, struct assignment_view *ret_view);

/*
 * command_page.c: a page token is the kind of list and the last id of the page,
 * with a checksum, so that a token of another list or a changed one is refused.
 */
const char *page_token(struct reply *reply, char kind, const char *last_id);
enum command_status page_start(struct call *c, char kind, char *ret_last_id, size_t size); /* "" = from the start */

#endif
