// SPDX-License-Identifier: GPL-2.0-or-later
/* cmd_node.c - schedctl version, health */
#include <string.h>

#include "api/ctl/commands.h"
#include "api/ctl/ctl.h"
#include "api/ctl/json.h"
#include "api/ctl/out.h"
#include "daemon/base/cleanup.h"
#include "grpc/health/v1/health.pb-c.h"
#include "schedd/v1alpha1/scheduler.pb-c.h"
#include "version.h"

static void print_version_json(const Schedd__V1alpha1__NodeStatus *s)
{
	printf("{\n  \"schedctl\": {\n    \"version\": ");
	json_print_string(SCHEDD_VERSION, stdout);
	printf(",\n    \"revision\": ");
	json_print_string(SCHEDD_REVISION, stdout);
	printf("\n  }");
	if (s) {
		printf(",\n  \"schedd\": {\n    \"version\": ");
		json_print_string(s->version, stdout);
		printf(",\n    \"revision\": ");
		json_print_string(s->revision, stdout);
		printf(",\n    \"bpfHash\": ");
		json_print_string(s->bpf_hash, stdout);
		printf(",\n    \"kernel\": ");
		json_print_string(s->kernel, stdout);
		printf("\n  }");
	}
	printf("\n}\n");
}

int cmd_version(struct ctl *ctl)
{
	_cleanup_message_ Schedd__V1alpha1__NodeStatus *s = NULL;
	Schedd__V1alpha1__GetStatusRequest request = SCHEDD__V1ALPHA1__GET_STATUS_REQUEST__INIT;
	struct ctl_problem problem;
	enum ctl_exit code;

	code = ctl_try(ctl, &schedd__v1alpha1__scheduler__descriptor, "GetStatus", &request.base, &s, &problem);
	if (ctl->cli.format == CLI_JSON) {
		print_version_json(s);
	} else {
		printf("schedctl %s (%s)\n", SCHEDD_VERSION, SCHEDD_REVISION);
		if (s) {
			_cleanup_free_ char *version = out_text(s->version), *revision = out_text(s->revision);
			_cleanup_free_ char *hash = out_text(s->bpf_hash), *kernel = out_text(s->kernel);

			printf("schedd   %s (%s)\nBPF      %s\nkernel   %s\n", version, revision, hash, kernel);
		}
		fflush(stdout);
	}
	return code == CTL_DONE ? CTL_DONE : ctl_fail(code, "%s", problem.text);
}

int cmd_health(struct ctl *ctl)
{
	_cleanup_message_ Grpc__Health__V1__HealthCheckResponse *reply = NULL;
	Grpc__Health__V1__HealthCheckRequest request = GRPC__HEALTH__V1__HEALTH_CHECK_REQUEST__INIT;
	const ProtobufCEnumValue *name;
	struct ctl_problem problem;
	enum ctl_exit code;

	if (ctl->cli.nr_args)
		request.service = (char *)ctl->cli.args[0];
	code = ctl_try(ctl, &grpc__health__v1__health__descriptor, "Check", &request.base, &reply, &problem);
	if (code != CTL_DONE)
		return ctl_fail(code, "%s", problem.text);
	if (!ctl_print_json(ctl, &reply->base)) {
		name = protobuf_c_enum_descriptor_get_value(
			&grpc__health__v1__health_check_response__serving_status__descriptor, (int)reply->status);
		puts(name ? name->name : "UNKNOWN");
	}
	return reply->status == GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING ? CTL_DONE
												 : CTL_FAILED;
}
