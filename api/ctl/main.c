// SPDX-License-Identifier: GPL-2.0-or-later
/* main.c - schedctl: parses the command line and runs one command */
#include <locale.h>
#include <stdio.h>
#include <unistd.h>

#include "api/ctl/client.h"
#include "api/ctl/ctl.h"
#include "api/ctl/out.h"
#include "api/ctl/table.h"
#include "version.h"

/* A full disk or a closed pipe must not look like success. */
static int flush_output(int code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	return ctl_fail(code ? (enum ctl_exit)code : CTL_FAILED, "the output could not be written");
}

int main(int argc, char **argv)
{
	struct ctl ctl = { 0 };
	char error[512];
	int code;

	setlocale(LC_TIME, "");
	if (cli_parse(ctl_commands, argc, argv, &ctl.cli, error, sizeof(error)) < 0)
		return ctl_fail(CTL_USAGE, "%s", error);
	if (ctl.cli.help) {
		cli_help(ctl_commands, &ctl.cli, stdout);
		return flush_output(CTL_DONE);
	}
	if (ctl.cli.version) {
		printf("schedctl %s (%s)\n", SCHEDD_VERSION, SCHEDD_REVISION);
		return flush_output(CTL_DONE);
	}
	ctl.colour = out_want_colour(STDOUT_FILENO);
	code = ctl.cli.command->run(&ctl);
	client_free(ctl.client);
	return flush_output(code);
}
