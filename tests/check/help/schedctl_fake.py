#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""schedctl_fake.py - a daemon made of canned answers, to see what schedctl makes of them

usage: schedctl_fake.py GENERATED_DIR SOCKET
GENERATED_DIR holds what protoc --python_out made.  Prints "ready" when it
listens.  A class, target or mode may be named "status-N": the call then ends
with gRPC status N.
"""
import re
import sys
import threading
from concurrent import futures

import grpc
from google.protobuf import any_pb2, duration_pb2

sys.path.insert(0, sys.argv[1])
from google.rpc import error_details_pb2, status_pb2  # noqa: E402
from grpc_health_fake import health_pb2  # noqa: E402
from schedd.v1alpha1 import scheduler_pb2 as pb  # noqa: E402

HOSTILE = "/evil\\x0a\\x1b[31m"          # as the daemon escapes it
BACKSLASH = "/system.slice/a\\x5cx2db.service"  # a unit name that systemd escaped: a\x2db.service


def fail(context, number, message, details=()):
    status = status_pb2.Status(code=number, message=message)
    info = error_details_pb2.ErrorInfo(reason="FAKE", domain="schedd.io")
    for detail in (info, *details):
        packed = any_pb2.Any()
        packed.Pack(detail)
        status.details.append(packed)
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    code = next(c for c in grpc.StatusCode if c.value[0] == number)
    context.abort(code, message)


def refuse_if_asked(context, *words):
    for word in words:
        match = re.fullmatch(r"/?status-(\d+)", word)
        if match:
            number = int(match[1])
            details = []
            if number == 3:
                bad = error_details_pb2.BadRequest()
                bad.field_violations.add(field="target.container_id", description="abcdef012345 in pod a")
                bad.field_violations.add(field="target.container_id", description="abcdef999999 in pod b")
                details.append(bad)
            if number == 14:
                details.append(error_details_pb2.RetryInfo(retry_delay=duration_pb2.Duration(nanos=250000000)))
            fail(context, number, "asked for status %d\nand a \x1b[31mcolour" % number, details)


def sched_class(name, kind=pb.SchedClass.KIND_NORMAL):
    c = pb.SchedClass(name=name, kind=kind, policy="vtime", origin=pb.SchedClass.ORIGIN_CONFIG, etag="7",
                      member_cgroups=3, effective_guarantee_cpus=1, owned_cpu_ids=[0, 1, 2, 8], held_cpu_ids=[1],
                      overridden_fields=["weight"], own_fields=["guarantee_cpus", "weight"])
    c.guarantee_cpus.value = 2
    c.burst_cpus.value = 4
    c.weight.value = 100
    c.slice.nanos = 2000000
    c.quantum.SetInParent()
    c.lend = pb.SchedClass.LEND_IDLE
    return c


class Scheduler:
    def GetStatus(self, request, context):
        s = pb.NodeStatus(mode="auto", state="attached", state_reason="2 cgroups are in a class other than normal",
                          epoch="0123456789abcdef", config_generation=12, plan_generation=34, version="0.1",
                          revision="abc", bpf_hash="feedbeeffeedbeef", kernel="6.16.3", online_cpus=4,
                          managed_cgroups=57, cpu_limits_unenforced_cgroups=3, ejections=1, healthy=True, ready=True)
        s.uptime_duration.seconds = 7500
        s.attached_duration.seconds = 60
        s.conditions.add(type="Attached", status=1, reason="Attached")
        s.conditions.add(type="CpuMaxEnforced", status=2, reason="NotEnforced", message="3 cgroups have a cpu.max")
        s.features.add(name="ext_server", present=False, detail="kernel 7.0 on has it")
        s.classes.extend([sched_class("latency-critical", 3), sched_class("normal")])
        return s

    def SetMode(self, request, context):
        refuse_if_asked(context, request.mode)
        s = self.GetStatus(request, context)
        s.mode = request.mode
        if request.HasField("hold_for"):
            s.hold_reason = "mode"
            s.hold_until_time.seconds = 1700000000
        return s

    def ListClasses(self, request, context):
        # three pages of two
        at = int(request.page_token or 0)
        reply = pb.ListClassesResponse(classes=[sched_class("class-%d" % i) for i in (at, at + 1)])
        if at < 4:
            reply.next_page_token = str(at + 2)
        return reply

    def GetClass(self, request, context):
        refuse_if_asked(context, request.class_name)
        return sched_class(request.class_name)

    def UpsertClass(self, request, context):
        refuse_if_asked(context, request.sched_class.name)
        print(re.sub(r"\s+", " ", str(request)), file=sys.stderr)
        return sched_class(request.sched_class.name)

    def RevertClass(self, request, context):
        return self.GetClass(request, context)

    def DeleteClass(self, request, context):
        refuse_if_asked(context, request.class_name)
        return pb.DeleteClassResponse(config_generation=13)

    def SetClass(self, request, context):
        refuse_if_asked(context, request.target.cgroup_path, request.class_name)
        print(re.sub(r"\s+", " ", str(request)), file=sys.stderr)
        a = pb.Assignment(assignment_id="a-1", target=request.target, class_name=request.class_name, lifetime=1,
                          state=1, affected_total=5, config_generation=13)
        a.affected.add(cgroup_id=7, cgroup_path=HOSTILE, class_name=request.class_name)
        a.actor.uid.value = 0
        a.actor.comm = "schedctl"
        return a

    def UnsetClass(self, request, context):
        refuse_if_asked(context, request.target.cgroup_path)
        return pb.Assignment(assignment_id="a-1", target=request.target, class_name="best-effort")

    def ListAssignments(self, request, context):
        refuse_if_asked(context, request.class_name)
        reply = pb.ListAssignmentsResponse()
        if request.class_name != "empty":
            reply.assignments.add().CopyFrom(self.SetClass(pb.SetClassRequest(
                target=pb.Target(unit="nginx.service"), class_name="latency-critical"), context))
        return reply

    def ExplainTarget(self, request, context):
        refuse_if_asked(context, request.target.cgroup_path)
        reply = pb.ExplainTargetResponse()
        d = reply.decisions.add(cgroup_id=7, cgroup_path=BACKSLASH, class_name="normal", capped_by="/x max normal")
        d.winner.source, d.winner.key, d.winner.value = "config", "cgroup", "/batch.slice/**"
        d.winner.rule, d.winner.class_name = "/etc/schedd/schedd.yaml:4", "best-effort"
        d.overridden.add(source="default", class_name="normal", at_cgroup_id=1)
        return reply

    def ListCgroups(self, request, context):
        refuse_if_asked(context, request.class_name)
        reply = pb.ListCgroupsResponse()
        for i, path in enumerate(["/", "/a.b", "/a", "/a/c", "/a/b", HOSTILE, BACKSLASH]):
            reply.decisions.add(cgroup_id=i + 1, cgroup_path=path, class_name="normal").winner.source = "inherited"
        return reply

    def GetPlan(self, request, context):
        plan = pb.Plan(plan_generation=34, policy="static")
        plan.classes.add(class_name="latency-critical", guarantee_cpus=2, owned_cpus=1)
        if request.view == pb.GetPlanRequest.VIEW_FULL:
            plan.cpus.add(cpu_id=0, owner_class_name="normal", exclusion=1)
            plan.cpus.add(cpu_id=1, exclusion=2)
        return plan

    def lease(self, request, class_name, **more):
        print(re.sub(r"\s+", " ", str(request)), file=sys.stderr)
        lease = pb.Lease(lease_id="l-1", class_name=class_name, requested_cpus=3, granted_cpus=3, cpu_ids=[1, 2, 3],
                         state=2, **more)
        lease.holder.uid.value = 0
        lease.expire_time.seconds = 1700000000
        lease.owned_after.nanos = 1234567
        return lease

    def GrantCores(self, request, context):
        refuse_if_asked(context, request.class_name)
        lease = self.lease(request, request.class_name)
        if request.min_cpus:
            lease.requested_cpus, lease.state = 5, 4
        return lease

    def ReassignCores(self, request, context):
        refuse_if_asked(context, request.from_class_name, request.to_class_name)
        return self.lease(request, request.to_class_name, from_class_name=request.from_class_name)

    def RenewLease(self, request, context):
        refuse_if_asked(context, request.lease_id)
        return self.lease(request, "web")

    def ReleaseLease(self, request, context):
        refuse_if_asked(context, request.lease_id)
        lease = self.lease(request, "web")
        lease.state = 5
        return lease

    def ListLeases(self, request, context):
        refuse_if_asked(context, request.class_name)
        reply = pb.ListLeasesResponse()
        if request.class_name != "empty":
            reply.leases.add().CopyFrom(self.lease(request, "web", reason=HOSTILE))
            reply.leases.add(lease_id="l-2", class_name="web", requested_cpus=4, granted_cpus=1, state=4)
        return reply

    def WatchEvents(self, request, context):
        """Two events and the bookmark behind them; then silence, or for the class "ends" the end."""
        refuse_if_asked(context, *request.class_names)
        print(re.sub(r"\s+", " ", str(request)), file=sys.stderr, flush=True)
        if "silent" not in request.class_names:
            e = pb.Event(epoch="0123456789abcdef", sequence=7, type=pb.Event.TYPE_DECISION_CHANGED, request_id="r-1")
            e.event_time.seconds = 1700000000
            e.actor.uid.value, e.actor.comm, e.actor.source = 0, "schedctl", "api"
            e.decision.cgroup_id, e.decision.cgroup_path, e.decision.class_name = 9, HOSTILE, "best-effort"
            e.decision.winner.source = "call"
            yield e
            e = pb.Event(epoch="0123456789abcdef", sequence=19, type=pb.Event.TYPE_DROPPED)
            e.dropped.count, e.dropped.first_sequence, e.dropped.last_sequence = 12, 8, 19
            yield e
            yield pb.Event(epoch="0123456789abcdef", sequence=19, type=pb.Event.TYPE_BOOKMARK)
        if "ends" in request.class_names:
            fail(context, 14, "schedd is stopping; watch again when it is back")
        if "vanishes" not in request.class_names:
            over = threading.Event()
            context.add_callback(over.set)
            over.wait(60)

    def GetConfig(self, request, context):
        return pb.GetConfigResponse(yaml="scheduler:\n  mode: auto\n", files=["/etc/hostname"], config_generation=1)

    def ReloadConfig(self, request, context):
        if not request.change.validate_only:
            return pb.ReloadConfigResponse(accepted=True, files=["/etc/schedd/schedd.yaml"], config_generation=2)
        reply = pb.ReloadConfigResponse()
        reply.errors.add(file="/etc/schedd/schedd.yaml", line=3, column=9, key="scheduler.mode", value="autos",
                         message="auto, active or detached")
        return reply


class Health:
    def Check(self, request, context):
        if request.service not in ("", "schedd.v1alpha1.Scheduler"):
            fail(context, 5, "unknown service")
        return health_pb2.HealthCheckResponse(status=2 if request.service else 1)


def handlers(instance, service):
    out = {}
    for m in service.methods:
        function = getattr(instance, m.name, None)
        if function:
            stream = m.name == "WatchEvents"
            make = grpc.unary_stream_rpc_method_handler if stream else grpc.unary_unary_rpc_method_handler
            out[m.name] = make(
                function, request_deserializer=m.input_type._concrete_class.FromString,
                response_serializer=lambda reply: reply.SerializeToString())
    return grpc.method_handlers_generic_handler(service.full_name, out)


def main():
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=2))
    server.add_generic_rpc_handlers((
        handlers(Scheduler(), pb.DESCRIPTOR.services_by_name["Scheduler"]),
        handlers(Health(), health_pb2.DESCRIPTOR.services_by_name["Health"])))
    server.add_insecure_port("unix:" + sys.argv[2])
    server.start()
    print("ready", flush=True)
    server.wait_for_termination()


main()
