/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table.h - every command of schedctl with its options */
#ifndef SCHEDD_CTL_TABLE_H
#define SCHEDD_CTL_TABLE_H

#include "api/ctl/cli.h"

extern const struct cli_command ctl_commands[]; /* ends with a NULL noun */

#endif
