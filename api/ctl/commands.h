/* SPDX-License-Identifier: GPL-2.0-or-later */
/* commands.h - the commands of schedctl; each returns an enum ctl_exit */
#ifndef SCHEDD_CTL_COMMANDS_H
#define SCHEDD_CTL_COMMANDS_H

struct ctl;

int cmd_status(struct ctl *ctl);
int cmd_is_active(struct ctl *ctl);
int cmd_version(struct ctl *ctl);
int cmd_doctor(struct ctl *ctl);
int cmd_health(struct ctl *ctl);
int cmd_mode(struct ctl *ctl);

int cmd_class_set(struct ctl *ctl);
int cmd_class_unset(struct ctl *ctl);
int cmd_class_get(struct ctl *ctl);
int cmd_class_assignments(struct ctl *ctl);

int cmd_class_list(struct ctl *ctl);
int cmd_class_show(struct ctl *ctl);
int cmd_class_create(struct ctl *ctl);
int cmd_class_update(struct ctl *ctl);
int cmd_class_revert(struct ctl *ctl);
int cmd_class_delete(struct ctl *ctl);

int cmd_events(struct ctl *ctl);

int cmd_cgroup_list(struct ctl *ctl);
int cmd_cores_show(struct ctl *ctl);
int cmd_cores_grant(struct ctl *ctl);
int cmd_cores_reassign(struct ctl *ctl);
int cmd_cores_leases(struct ctl *ctl);
int cmd_cores_renew(struct ctl *ctl);
int cmd_cores_release(struct ctl *ctl);

int cmd_config_show(struct ctl *ctl);
int cmd_config_cat(struct ctl *ctl);
int cmd_config_verify(struct ctl *ctl);
int cmd_config_reload(struct ctl *ctl);

#endif
